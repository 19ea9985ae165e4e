"""A server that is started, loaded, watched and stopped; its small model is in plan."""
