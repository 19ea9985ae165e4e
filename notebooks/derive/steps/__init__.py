"""What several derivations share: tensors, operators, the phases of a step; no display."""
