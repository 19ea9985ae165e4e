"""A deployment in closed form: every quantity of a wave of equal requests; no clock, no events."""
