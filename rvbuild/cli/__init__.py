"""The command line: words, settings and their origin, drawing events and failures, exit codes."""
