"""What the derivations stand on: symbols, trees, checks, display; nothing of the runtime."""
