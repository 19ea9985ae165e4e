"""vLLM Ascend's own parser and checks of command lines, with a stand-in for the card; no server."""
