"""Tables and pictures of errors, measured beside predicted; nothing is fitted or predicted."""
