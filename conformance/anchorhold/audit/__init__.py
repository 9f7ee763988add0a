"""What the compactions in real transcripts lost, made up, and made the agent do again. See `run.audit_paths`."""
