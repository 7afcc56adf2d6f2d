#!/bin/sh
exec "@PROGRAM@" "--sysroot=@SYSROOT@" @WORDS@ -march=rv64gc -mabi=lp64d "$@"
