"""What the events of the alphabet mean to each machine.

A projection reads occurrences one after another and gives, for each, what the machine is asked to do (`Take`: one of
its actions, with the parameters that are known), what the machine's state is seen to be (`Look`), and what is given
to it for good (`Given`). It judges nothing: whether the machine can do it, and is as it was seen to be,
`anchorhold_spec.run.oracle` finds out. What a machine does not speak of has no meaning to it.

From outside only the ends of things are seen. Where something is seen that has to be led up to by steps that nobody
sees, the projection takes these steps first; where that is not sound, it takes none. `sight` says which are which.

A projection remembers what it has read, since an event may mean nothing the second time: call `PROJECTIONS[name]()`
once for each history.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from anchorhold_spec.machines.projections.carriers import Anchoring, Generations
from anchorhold_spec.machines.projections.lookups import Evidence, Index, Reconstitution
from anchorhold_spec.machines.projections.meaning import Given, Look, Meaning, Projection, Take, Who
from anchorhold_spec.machines.projections.pointers import PointerBeforeCommit
from anchorhold_spec.machines.projections.release import AnchoredRelease
from anchorhold_spec.machines.projections.sight import SIGHT, UNREAD, Sight
from anchorhold_spec.machines.projections.spans import AsynchronousCopy, ReleaseRace, WriteOrder
from anchorhold_spec.machines.projections.windows import Concurrency, Erasure, Progress

__all__ = ["PROJECTIONS", "SIGHT", "UNREAD", "Given", "Look", "Meaning", "Projection", "Sight", "Take", "Who"]

PROJECTIONS: Mapping[str, Callable[[], Projection]] = MappingProxyType(
    {
        "anchored-release": AnchoredRelease,
        "anchoring": Anchoring,
        "asynchronous-copy": AsynchronousCopy,
        "concurrency": Concurrency,
        "erasure": Erasure,
        "evidence": Evidence,
        "generations": Generations,
        "index": Index,
        "pointer-before-commit": PointerBeforeCommit,
        "progress": Progress,
        "reconstitution": Reconstitution,
        "release-race": ReleaseRace,
        "write-order": WriteOrder,
    }
)
"""By machine."""
