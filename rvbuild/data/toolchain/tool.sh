#!/bin/sh
exec "@PROGRAM@" @WORDS@ "$@"
