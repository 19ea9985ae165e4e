"""What of the site is taken along: editions, the engine, notebooks, one file; no page is made."""
