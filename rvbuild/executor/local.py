"""Runs commands on this machine, in a process group of their own, without network where asked."""
