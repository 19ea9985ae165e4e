"""One request through all derivations, from its prompt to its last token; no formula."""
