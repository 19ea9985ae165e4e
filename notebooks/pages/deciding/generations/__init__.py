"""Models of one family after another, held against each other; no derivation, no search."""
