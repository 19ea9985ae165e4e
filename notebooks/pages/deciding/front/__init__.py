"""The standard question answered: model by card, table and picture; no other search."""
