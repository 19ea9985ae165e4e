"""What a quantity hangs on: slopes, ranges, break-evens, what knowing is worth; no capacity."""
