"""What the pages of deployments stand on: the runtime's answers, and how they are told."""
