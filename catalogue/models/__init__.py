"""From the `config.json` of a published model to a model file; nothing is downloaded."""
