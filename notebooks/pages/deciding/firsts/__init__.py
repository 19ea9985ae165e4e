"""First answers to goals, beside what is expected of them by hand; nothing is searched."""
