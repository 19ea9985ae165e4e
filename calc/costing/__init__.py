"""Money and power of a deployment: capital, rent, energy, returns; no search."""
