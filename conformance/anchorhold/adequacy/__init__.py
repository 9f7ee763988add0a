"""Does the suite bite? Compactors of which it is known what is wrong with them are checked, and right ones."""
