"""Goals, prices and loads: what a decision starts from; no formula."""
