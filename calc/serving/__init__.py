"""Requests through time: arrivals, the scheduler of an engine, what users see; no interval."""
