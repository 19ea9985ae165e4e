"""How entries of the catalogue and estimates are tabulated; nothing measured."""
