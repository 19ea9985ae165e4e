"""What the engineering chapters show of the runtime's answers, a module per chapter; no formula."""
