# Data between two parts of a function, which reads as vector and bit manipulation instructions.
  .text
  .globl island
  .type island, @function
island:
  j after
  .word 0x0c0372d7, 0x02056087, 0x20a52533, 0x60051513
after:
  li a0, 1
  ret
  .size island, . - island
