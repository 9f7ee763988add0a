"""Small compactors of several architectures, right and wrong, that the suite is tested on."""
