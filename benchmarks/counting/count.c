/* A QEMU plugin: how many instructions a program executes between two marks, and how many of them are
 * vector instructions. A mark is prctl(MARK, 1) at the begin and prctl(MARK, 2) at the end, which the
 * kernel answers with EINVAL; every end writes one line `INSTRUCTIONS VECTOR` to the file `out=FILE`. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <qemu-plugin.h>

enum { MARK = 0x52564231, BEGIN = 1, END = 2, SYSCALL_PRCTL = 167 };

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static struct qemu_plugin_scoreboard *board;
static qemu_plugin_u64 executed, vector;
static uint64_t executed_before, vector_before;
static FILE *out;

/* OP-V, and loads and stores of floating-point width codes that are none of a scalar. */
static int is_vector(uint32_t word)
{
    uint32_t width = word >> 12 & 7;
    switch (word & 0x7f) {
    case 0x57:
        return 1;
    case 0x07:
    case 0x27:
        return width == 0 || width >= 5;
    default:
        return 0;
    }
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    size_t count = qemu_plugin_tb_n_insns(block);
    uint64_t vectors = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t word = 0;
        qemu_plugin_insn_data(qemu_plugin_tb_get_insn(block, i), &word, sizeof word);
        vectors += is_vector(word);
    }
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(block, QEMU_PLUGIN_INLINE_ADD_U64, executed, count);
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(block, QEMU_PLUGIN_INLINE_ADD_U64, vector, vectors);
}

static void called(qemu_plugin_id_t id, unsigned cpu, int64_t number, uint64_t a1, uint64_t a2,
                   uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    if (number != SYSCALL_PRCTL || a1 != MARK)
        return;
    uint64_t executed_now = qemu_plugin_u64_sum(executed), vector_now = qemu_plugin_u64_sum(vector);
    if (a2 == END) {
        fprintf(out, "%" PRIu64 " %" PRIu64 "\n", executed_now - executed_before, vector_now - vector_before);
        fflush(out);
    }
    executed_before = executed_now;
    vector_before = vector_now;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    if (argc != 1 || strncmp(argv[0], "out=", 4) != 0 || !(out = fopen(argv[0] + 4, "w")))
        return -1;
    board = qemu_plugin_scoreboard_new(2 * sizeof(uint64_t));
    executed = (qemu_plugin_u64){board, 0};
    vector = (qemu_plugin_u64){board, sizeof(uint64_t)};
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_vcpu_syscall_cb(id, called);
    return 0;
}
