"""Starts the program for `python -m rvbuild`."""

from rvbuild.cli.main import main

main()
