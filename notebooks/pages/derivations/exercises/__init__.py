"""What readers try with a command at the end of a chapter, and its answer; no formula."""
