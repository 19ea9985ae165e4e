"""What an engine is told of a card that is not there; lines and verdicts are of each engine."""
