"""What the pages on the documents show of the audit: verdicts, causes, rows; no formula."""
