"""What users of a deployment see, in closed form and by simulation of its scheduler."""
