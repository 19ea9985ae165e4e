"""Every claim of the documents, where it stands and what it is held against; no verdict."""
