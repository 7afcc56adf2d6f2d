#!/bin/sh
# Runs what a build wants to run for the target, on riscv64 itself: programs made for the sysroot with the
# sysroot's own loader and libraries, so that nothing depends on those of this machine; others as they are.
case $1 in
  */*) program=$1 ;;
  *) program=$(command -v "$1") ;;
esac
loader=/lib/ld-linux-riscv64-lp64d.so.1
if [ "$(od -An -tx1 -j18 -N2 "$program" 2>/dev/null)" != " f3 00" ] ||
  ! head -c 4096 "$program" | tr '\0' '\n' | grep -qx "$loader"; then
  exec "$@"
fi
shift
libraries=@SYSROOT@/usr/riscv64-linux-gnu/lib${RVBUILD_PREFIX:+:$RVBUILD_PREFIX/lib}
exec "@SYSROOT@$loader" --library-path "$libraries" "$program" "$@"
