"""Whether a deployment may be loaded, and why not, as far as no physics is asked; no formula."""
