"""One set of questions to the command line, and what it answered when last recorded; no test."""
