"""Recorded transcripts, replayed through the reference compactor: what is lost over many generations, and what it
costs to lose nothing."""
