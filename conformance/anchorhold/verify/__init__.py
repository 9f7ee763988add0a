"""`anchorhold verify`: recorded histories, from a run or from production, judged as they are read."""
