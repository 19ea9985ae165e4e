"""What single pages show besides the sections of all, a module or two per page; no formula."""
