"""The sections of a deployment's page, one call each; no number is computed here."""
