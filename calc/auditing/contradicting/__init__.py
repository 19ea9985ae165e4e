"""What claims exclude each other, found from what they print; no verdict on a single one."""
