"""Cards over time: a day, failures, growth, tiers, regret; nothing is printed."""
