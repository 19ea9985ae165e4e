"""What the documents' cards give with models of today, plan by plan; no derivation, no search."""
