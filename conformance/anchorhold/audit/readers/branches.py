"""Which turns of a session stand on a branch that the user went back from."""

from collections.abc import Iterator

MOST_NODES = 20_000
"""Records since the last compaction whose place in the tree is kept; more than any window holds."""


class Branches:
    """The tree of one session's records since its last compaction. Holds ids only.

    Calls that are made at once have results side by side, so that two children alone are no branch that was left.
    Going back is told by a person's message: what hangs below the record that it answers was written after that
    record and is not above the message, so it is no longer in the window.
    """

    def __init__(self) -> None:
        """Start without a record."""
        self._children: dict[str | None, list[tuple[str | None, int | None]]] = {}
        self._count = 0
        self._left: set[int] = set()

    def add(self, uuid: str | None, parent: str | None, number: int | None) -> None:
        """A record below its parent; `number` where it is a turn."""
        if parent is None or self._count >= MOST_NODES:
            return
        self._count += 1
        self._children.setdefault(parent, []).append((uuid, number))

    def forks(self, parent: str | None) -> None:
        """A person's message answers that record: everything below it so far is left."""
        if parent is None:
            return
        self._left.update(number for number in self._below(parent) if number is not None)

    def _below(self, parent: str) -> Iterator[int | None]:
        waiting: list[str | None] = [parent]
        while waiting:
            # Taken out: what was left once is below nothing any more.
            for uuid, number in self._children.pop(waiting.pop(), ()):
                yield number
                if uuid is not None:
                    waiting.append(uuid)

    def left(self) -> frozenset[int]:
        """Numbers of the turns that were left since the last compaction."""
        return frozenset(self._left)

    def restart(self) -> None:
        """A compaction: only what comes after it matters."""
        self._children, self._count, self._left = {}, 0, set()
