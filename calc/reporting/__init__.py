"""One deployment as one HTML page, in English or Chinese; no formula."""
