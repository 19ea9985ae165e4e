"""Answers for a deployment and choices among many: estimate, advice, sweeps; nothing is printed."""
