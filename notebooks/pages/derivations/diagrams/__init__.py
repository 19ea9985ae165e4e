"""Diagrams of the derivations, a module per idea, drawn from computed numbers; no formula."""
