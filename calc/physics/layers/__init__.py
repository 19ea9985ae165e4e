"""What layers of one kind hold, and what is of them alone; no whole model, no step."""
