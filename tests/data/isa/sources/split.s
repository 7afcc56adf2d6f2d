# Loads a group of four registers, and reads its members one by one: right where VLEN is 256 only.
  .text
  .globl product_ZVL256B
  .type product_ZVL256B, @function
product_ZVL256B:
  .option arch, +v
  vsetivli zero, 16, e64, m4, ta, ma
  vle64.v v8, (a0)
  vsetivli zero, 4, e64, m1, ta, ma
  vfadd.vv v1, v9, v10
  vfadd.vv v2, v11, v10
  vse64.v v1, (a1)
  ret
  .size product_ZVL256B, . - product_ZVL256B
  .globl whole_ZVL256B
  .type whole_ZVL256B, @function
whole_ZVL256B:
  vsetvli t0, a2, e64, m4, ta, ma
  vle64.v v8, (a0)
  vle64.v v12, (a1)
  vfadd.vv v8, v8, v12
  vse64.v v8, (a0)
  vsetvli t0, a2, e64, m1, ta, ma
  vle64.v v9, (a1)
  vfadd.vv v1, v9, v9
  ret
  .size whole_ZVL256B, . - whole_ZVL256B
