#!/bin/sh
# Compiles for riscv64. Folders and processors of the build machine are refused by name: what is found
# there is for another machine, and a build that goes on with it ends in a wheel that fails elsewhere.
before=
for word do
  case $before$word in
    -I/usr/include*|-I/usr/local/*|-isystem/usr/include*|-isystem/usr/local/*|-idirafter/usr/include*|\
    -L/usr/lib*|-L/lib*|-L/usr/local/*)
      echo "rvbuild: error: \`$word\` is a folder of the build machine, in a build for riscv64" >&2
      exit 1 ;;
    -march=native|-mcpu=native|-mtune=native)
      echo "rvbuild: error: \`$word\` asks for the build machine's processor, in a build for riscv64" >&2
      exit 1 ;;
  esac
  case $word in
    -I|-L|-isystem|-idirafter) before=$word ;;
    *) before= ;;
  esac
done
exec ${RVBUILD_COMPILER_LAUNCHER:+"$RVBUILD_COMPILER_LAUNCHER"} "@INNER@" \
  ${RVBUILD_WORK:+"-ffile-prefix-map=$RVBUILD_WORK=/rvbuild"} "$@"
