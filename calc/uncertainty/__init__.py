"""How far the ranges of inputs move a quantity: slopes and intervals; nothing is fitted."""
