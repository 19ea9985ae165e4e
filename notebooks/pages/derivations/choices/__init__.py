"""What the sections on deciding of the derivations show, a module per chapter; no formula."""
