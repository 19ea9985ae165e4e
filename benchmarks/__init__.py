"""Measurements of speed beside a reference commit, and long accuracy checks; no test."""
