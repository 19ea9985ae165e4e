"""Every claim of the documents held against what is known: verdicts, causes; nothing is printed."""
