"""Faults put into the runtime one at a time, and whether a test sees them; none is mended here."""
