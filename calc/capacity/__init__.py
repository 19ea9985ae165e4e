"""Cards over time: a day, failures, growth, tiers; nothing is printed."""
