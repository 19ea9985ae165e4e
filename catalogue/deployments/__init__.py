"""A scenario resolved to entries and plain inputs, and whether it can be laid out; no formula."""
