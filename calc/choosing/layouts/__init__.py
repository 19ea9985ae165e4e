"""Which layouts there are, and which deployments run as asked; nothing is chosen among them."""
