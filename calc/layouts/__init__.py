"""Which layouts there are, whether one loads, a deployment changed; nothing is ranked."""
