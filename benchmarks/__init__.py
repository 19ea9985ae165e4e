"""Measurements of speed, memory and size: ``make bench``. Nothing here is a test."""
