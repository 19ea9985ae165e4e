"""What a file of each kind may hold, a class per kind; how files are found stands in `library`."""
