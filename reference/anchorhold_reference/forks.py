"""What a forked child inherits and may not touch: connections, and the locks that say who is alive.

A child has its parent's open files. Were it to keep them, a compaction that its parent died in would count as under
way for as long as the child lives (CRA-2); were it to use or close them, it would take them from the parent.
"""

import os
import weakref
from typing import Protocol


class Inherited(Protocol):
    """Something open that a forked child has to let go of."""

    def in_child(self) -> None:
        """Called once in the child, right after the fork: let go of what is the parent's, without a change to it."""


# The one thing in this package that belongs to the process and not to a transcript, as the fork itself does: the hook
# cannot be taken back, so there is one for all, and it holds nothing alive.
_OPEN: "weakref.WeakSet[Inherited]" = weakref.WeakSet()


def watch(one: Inherited) -> None:
    """Have `one` told in every child that is forked while it exists."""
    _OPEN.add(one)


def _in_child() -> None:
    for one in list(_OPEN):
        one.in_child()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_in_child)
