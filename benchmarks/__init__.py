"""Measurements of speed, memory and size, by `make bench`; nothing here is a test."""
