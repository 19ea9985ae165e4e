"""Runs that were measured beside what a derivation gives, a module per chapter; no formula."""
