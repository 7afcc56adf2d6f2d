#!/bin/sh
# Compiles for riscv64. Folders and processors of the build machine are refused by name: what is found
# there is for another machine, and a build that goes on with it ends in a wheel that fails elsewhere.
refuse() {
  echo "rvbuild: error: \`$1\` $2, in a build for riscv64" >&2
  exit 1
}
before=
for word do
  option=$before$word
  before=
  case $option in
    -I|-L|-isystem|-idirafter|-iquote) before=$option ;;
    -I/*|-L/*|-isystem/*|-idirafter/*|-iquote/*)
      case /${option#*/}/ in
        /usr/include/*|/usr/local/include/*|/usr/lib/*|/usr/lib64/*|/usr/local/lib/*|/lib/*|/lib64/*)
          refuse "$word" "is a folder of the build machine" ;;
      esac ;;
    -march=native|-mcpu=native|-mtune=native)
      refuse "$word" "asks for the build machine's processor" ;;
  esac
done
exec ${RVBUILD_COMPILER_LAUNCHER:+"$RVBUILD_COMPILER_LAUNCHER"} "@INNER@" \
  "-ffile-prefix-map=@KITS@=/rvbuild/kits" ${RVBUILD_WORK:+"-ffile-prefix-map=$RVBUILD_WORK=/rvbuild"} "$@"
