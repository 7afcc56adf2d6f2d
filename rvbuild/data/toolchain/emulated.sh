#!/bin/sh
# Runs a riscv64 program that a build wants to run: configure probes and generators.
exec "@PROGRAM@" -L "@SYSROOT@" -cpu "@CPU@" ${RVBUILD_PREFIX:+-E "LD_LIBRARY_PATH=$RVBUILD_PREFIX/lib"} "$@"
