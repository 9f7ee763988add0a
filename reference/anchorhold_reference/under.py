"""What is under a summary, in SQL: parts of statements that several modules ask."""

UNDER = (
    "summary x JOIN summary l ON l.chain = x.chain AND l.carrier <= x.carrier "
    "JOIN visible v ON v.carrier = l.carrier AND v.session = ? AND v.state = 'committed' "
    "JOIN covers k ON k.summary = l.carrier "
    "AND NOT EXISTS (SELECT 1 FROM live w WHERE w.session = v.session AND w.carrier = k.carrier)"
)
"""What a summary `x` of a branch (the parameter) stands for: `k.carrier`, summaries among them. A span that came
back into the window (STR-1) is not under it; one that left twice is there twice."""
COVERED = (
    "EXISTS (SELECT 1 FROM covers k JOIN visible s ON s.carrier = k.summary AND s.state = 'committed' "
    "WHERE s.session = v.session AND k.carrier = v.carrier)"
)
"""That a committed summary which the branch sees covers a carrier; for a row `v` of `visible`."""
