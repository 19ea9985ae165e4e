"""From a goal to every deployment that meets it, and the best; nothing is printed."""
