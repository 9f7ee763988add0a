"""Faults that tests bring about beneath the compactor. Nothing here is used in production."""
