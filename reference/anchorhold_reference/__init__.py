"""A compactor that holds the rules of `anchorhold_spec`, small enough to be read as the model answer."""
