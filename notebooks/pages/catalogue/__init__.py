"""Pages of single entries, a call per section: device, model, engines; nothing of a deployment."""
