"""Why laws of kernels miss tables, in words: switches, trends, scatter; nothing is judged here."""
