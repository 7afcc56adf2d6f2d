#!/bin/sh
# Makes the samples anew; CLANG is a clang of version 22 with lld, such as `zig clang`.
set -eu
cd "$(dirname "$0")"
make() {
  name=$1 source=$2
  shift 2
  $CLANG --target=riscv64-linux-gnu -mabi=lp64d -O2 -fPIC -ffreestanding -nostdlib -shared \
    "$@" "sources/$source" -o "$name"
}
make constructor.so constructor.c -march=rv64gc -s
make module.so module.c -march=rv64gc -s
make guarded.so guarded.c -march=rv64gc -s
make mixed.so mixed.c -march=rv64gc -s
make hwprobe.so hwprobe.c -march=rv64gc -s
make clones.so clones.c -march=rv64gc -s
make vector.so plain.c -march=rv64gcv -s
make address.so plain.c -march=rv64gc_zba -s
make plain.so plain.c -march=rv64gc -s
make island.so island.s -march=rv64gc -s
make island-mapped.so island.s -march=rv64gc
make table.so table.s -march=rv64gc -s
make registers.so registers.c -march=rv64gc -s
make draft.so draft.s -march=rv64gc -s
make split.so split.s -march=rv64gc -s
make variable.so variable.c -march=rv64gc -s
make setting.so setting.c -march=rv64gc -s
make stub.so stub.c -march=rv64gc -s
