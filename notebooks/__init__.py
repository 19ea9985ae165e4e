"""The derivations, a chapter each, and the templates of pages; no table is built here."""
