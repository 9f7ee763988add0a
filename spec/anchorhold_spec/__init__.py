"""What a transcript compactor must hold: vocabulary, rule catalogue, machines and their proofs."""
