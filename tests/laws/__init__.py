"""Laws of the whole engine, tried on random usual deployments; no number that a source gives."""
