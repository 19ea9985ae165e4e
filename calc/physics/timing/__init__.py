"""What kernels take: matmuls of a step, class by class or alone, and collectives; no whole step."""
