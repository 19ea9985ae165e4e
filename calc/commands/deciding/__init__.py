"""The commands that decide, one per file, and what they print; no formula."""
