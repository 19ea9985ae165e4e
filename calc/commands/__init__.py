"""The command line, one file per command, and what it prints; no formula."""
