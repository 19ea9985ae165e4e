"""Axes that outgrow one machine: chunks, parts, schedulers; no physics."""
