"""What watches a deployment: predictions, goals, signals and alerts; nothing is started here."""
