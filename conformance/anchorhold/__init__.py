"""Checks anybody's transcript compactor against the rules of `anchorhold_spec`."""
