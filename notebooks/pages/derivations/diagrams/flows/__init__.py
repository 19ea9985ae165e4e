"""Diagrams of requests and tokens on their way between cards, drawn to scale; no formula."""
