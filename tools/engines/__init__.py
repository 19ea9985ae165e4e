"""The engine catalogue made from released source, which is parsed; nothing of it is run."""
