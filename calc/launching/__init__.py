"""The files that start and watch a deployment; no prediction is made here."""
