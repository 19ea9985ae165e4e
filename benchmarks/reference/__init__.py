"""What answers are held against, by plain loops; nothing of a search is used."""
