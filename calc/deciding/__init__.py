"""What a decision hangs on: slopes, break-evens, capacity, failures; nothing is printed."""
