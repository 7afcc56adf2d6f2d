#!/bin/sh
# Runs what a build wants to run for the target: riscv64 programs (ELF machine 243) under the emulator,
# anything else as it is, such as the interpreter of this machine that answers for the target's.
case $1 in
  */*) program=$1 ;;
  *) program=$(command -v "$1") ;;
esac
if [ "$(od -An -tx1 -j18 -N2 "$program" 2>/dev/null)" != " f3 00" ]; then
  exec "$@"
fi
exec "@PROGRAM@" -L "@SYSROOT@" -cpu "@CPU@" ${RVBUILD_PREFIX:+-E "LD_LIBRARY_PATH=$RVBUILD_PREFIX/lib"} "$@"
