"""What formulas are derived and checked with: symbols, trees, the cross-check; nothing is shown."""
