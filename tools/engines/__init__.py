"""The engine catalogue made from released source: text is parsed, nothing is ever run."""
