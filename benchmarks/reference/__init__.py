"""What answers are held against, plain loops and public tools; nothing of a search is used."""
