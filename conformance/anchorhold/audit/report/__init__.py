"""Audits for people: on the terminal, and as one page that opens from disk."""
