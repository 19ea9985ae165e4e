"""Many deployments at once: sweeps, streams, fronts; what they mean is asked elsewhere."""
