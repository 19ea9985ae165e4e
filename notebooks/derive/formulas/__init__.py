"""Formulas as data: symbols, trees, dimensions, the exported file; nothing is shown."""
