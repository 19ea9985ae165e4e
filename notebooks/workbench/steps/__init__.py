"""What several derivations build on: tensors, the operator table, the phases of a step."""
