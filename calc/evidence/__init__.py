"""Predictions held against measurements: systems, fits, baselines; no decision."""
