"""What a deployment's page says of the runtime's answers; no formula, no layout of a page."""
