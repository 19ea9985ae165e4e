"""vLLM Ascend's own parser and checks of lines, with a stand-in for the card; no server."""
