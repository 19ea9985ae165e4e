"""Tables, numbers and pictures of the derivations, a module per chapter; no formula."""
