"""Laws of the whole engine, held by random usual deployments; no number that a source gives."""
