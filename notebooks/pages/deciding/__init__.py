"""What the chapters on deciding show of the runtime's answers; no formula."""
