"""Which rows of an engine's tables a law is fitted to, operator by operator; no law."""
