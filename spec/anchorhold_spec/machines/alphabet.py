"""The shared alphabet of events: what can be seen of a compactor from outside, whatever machine models it.

Each machine projects its actions onto these names (`Action.event`), so that one recorded history can be held
against every machine, each seeing only what it speaks of.
"""

from collections.abc import Mapping
from types import MappingProxyType

EVENTS: Mapping[str, str] = MappingProxyType(
    {
        "append": "A turn enters the transcript and is acknowledged.",
        "stage": "A summary is written and not yet committed.",
        "point": "The pointer from a summary to an original is made durable.",
        "copy": "An original lands in the cold store.",
        "commit": "A summary takes effect, durably.",
        "refuse": "An operation is refused; nothing changes.",
        "release": "The source of a committed summary may go.",
        "evict": "A carrier leaves the live window or the retrieval index.",
        "propose": "A retention policy marks something to be deleted.",
        "reap": "Something is deleted from a store.",
        "resolve": "A pointer is followed.",
        "reconstitute": "A value is asked for.",
        "tombstone": "An assertion is dropped on purpose.",
        "audit": "A pinned fact of an evicted span is fetched verbatim.",
        "repair": "The retrieval boundary is made whole again.",
        "degrade": "The retrieval boundary is declared not to be lossless.",
        "expire": "A lifetime ends.",
        "crash": "Everything that is not durable is lost.",
        "recover": "Work begins again after a crash.",
        "forget": "A content is erased on demand.",
        "clear": "The session is emptied on demand.",
        "rewind": "The session goes back to an earlier point.",
    }
)
