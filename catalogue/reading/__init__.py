"""From text to values: files, YAML, units, provenance, one-sentence errors; no kind of entry."""
