"""Tables and pictures of the chapter on cost; no formula."""
