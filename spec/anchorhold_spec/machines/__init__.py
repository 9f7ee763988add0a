"""The machines: what must hold, as state machines that are run, proved, explored and published."""
