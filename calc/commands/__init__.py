"""The command line, one file per command, and what it prints; no formula."""

import os

# pydantic looks through the metadata of every package for plug-ins; none is meant here
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

OK, BAD_INPUT, INTERRUPTED = 0, 2, 130  # exit codes, the last as a shell reports SIGINT
