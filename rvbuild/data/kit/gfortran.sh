#!/bin/sh
# GNU Fortran compiles and the C compiler of the job links, so that whatever a library is written in
# there is one linker, and one check of what it is told.
compile() {
  "@ROOT@/usr/bin/riscv64-linux-gnu-gfortran-10" "-B@ROOT@/usr/riscv64-linux-gnu/bin/" \
    ${RVBUILD_WORK:+"-ffile-prefix-map=$RVBUILD_WORK=/rvbuild"} "$@"
}
case " $* " in
  # Meson hands the answer to other compilers: where libraries are is for the one that links to say.
  *" --print-search-dirs "*) exec ${CC:-riscv64-linux-gnu-clang} --print-search-dirs ;;
esac
options=
for word do
  case $word in
    -c|-S|-E|-M|-MM|-v|-\#\#\#|--version|--help|-dump*|-print*|-fsyntax-only)
      compile "$@"
      exit ;;
  esac
done
objects=$(mktemp -d) || exit
trap 'rm -rf "$objects"' EXIT
before=
for word do
  shift
  # What a program's sources are compiled with says nothing to a linker.
  case $before$word in
    -o*|-l*|-L*|-Wl,*|-shared|-static*|-pie|-no-pie|-pthread|-B*|-rdynamic) set -- "$@" "$word" ;;
    -fopenmp) options="$options $word"; set -- "$@" -lgomp ;;
    -*) options="$options $word" ;;
    *.f|*.F|*.for|*.FOR|*.f90|*.F90|*.f95|*.F95|*.f03|*.F03|*.f08|*.F08)
      object=$objects/$#.o
      # shellcheck disable=SC2086 # options are words
      compile $options -c "$word" -o "$object" || exit
      set -- "$@" "$object" ;;
    *) set -- "$@" "$word" ;;
  esac
  before=
  [ "$word" = -o ] && before=-o
done
# shellcheck disable=SC2086 # a compiler's name may bring its first words
${CC:-riscv64-linux-gnu-clang} "$@" -lgfortran -lm
