"""Reading 4, publish: machines as TLA+ for TLC, as Murphi for rumur, and as Markdown for reviewers.

`tla.export_tla(machine)` and `murphi.export_murphi(machine)` give the texts of one finite instance; other people's
checkers then confirm what the readings of this project find. `markdown.export_markdown(machines)` is for people.
`matrix.sections` gives the generated parts of spec/README.md, from the claims of the sources (`claims.toml`) down to
what checks them.

Nothing is imported here: who asks for one of them does not wait for the others.
"""
