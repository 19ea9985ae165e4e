"""Hostile files and arguments for every door of the command line, and how it ends; no test."""
