"""How hard the project was tested, from records of long runs, worst first; nothing is run here."""
