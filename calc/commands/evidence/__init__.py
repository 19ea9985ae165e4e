"""Commands that hold numbers against evidence, one per file, and what they print; no formula."""
