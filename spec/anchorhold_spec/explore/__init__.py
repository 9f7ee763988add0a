"""Reading 3, explore."""
