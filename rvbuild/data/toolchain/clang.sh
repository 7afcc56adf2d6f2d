#!/bin/sh
exec "@PROGRAM@" @WORDS@ --target=riscv64-linux-gnu "--sysroot=@SYSROOT@" "--gcc-install-dir=@GCC_INSTALL@" \
  @RESOURCES@ -march=rv64gc -mabi=lp64d \
  --start-no-unused-arguments "--ld-path=@LINKER@" --end-no-unused-arguments "$@"
