"""Index: raw spans that leave the window keep an entry of their own, and `lossless` is said only while they do.

A span leaves the window with an entry in the retrieval index, under a key that is given out once. Later passes draw
their spans differently, so that a coarser span may lie over earlier ones; it gets an entry of its own and the earlier
ones stay. A pass that would move an entry to another key halts and says which entry. Compactions are counted, and
before a period is over an audit has to fetch a span that has left the window. The world may damage an entry; whoever
fetches it finds out, and the status is degraded until the entry is repaired. While it is, nothing more leaves the
window, unless a caller has accepted the loss, which is on record.

What this machine leaves out: which fact is pinned and that it comes back verbatim (an entry holds the right span or
it does not), the number 500 (here: any period), and why a status is degraded beyond which entry it was. The lifetime of
entries is one step that may come at any moment. That equal texts stay different spans needs spans with equal texts:
texts are given data, and any spans may share one.
"""

from anchorhold_spec.language import MachineBuilder, bound, exists, forall, realism, safety, succ

m = MachineBuilder(
    "index",
    "Each span that leaves the window has an immutable entry of its own; audits look; degraded stops the losses.",
)

Span = m.sort("span", doc="A contiguous run of raw turns.")
Key = m.sort("key", symmetric=True, doc="What an entry is found under.")
Text = m.sort("text", symmetric=True, doc="What a span says.")
Count = m.ordered("count", doc="Compactions since the latest audit.")
Place = m.enum("place", "window", "evicted", doc="Where a raw span is.")
Status = m.enum("status", "lossless", "degraded", doc="What is reported of the index.")
Answer = m.enum("answer", "unasked", "found", "degraded", doc="What reading a span gave.")

keys = m.switch("keys", "by-span", "by-content", default="by-span", doc="What the key of an entry follows from.")
entries = m.switch(
    "entries", "immutable", "replaceable", default="immutable", doc="Whether a pass may put an entry in another's place."
)
lifetime = m.switch(
    "lifetime", "to-horizon", "shorter", default="to-horizon", doc="How long an entry is kept, against the horizon."
)
audits = m.switch("audits", "on", "off", default="on", doc="Whether a period without an audit stops compaction.")

text = m.rigid_fun("text_of", Span, to=Text)
within = m.rigid_rel("within", Span, Span, given=lambda s, t: s < t, doc="The second one is drawn over the first.")
period = m.rigid_fun("period", to=Count, given=lambda: 1, doc="How many compactions may go by without an audit.")
place = m.fun("place_of", Span, to=Place, initial=Place.window)
key = m.pfun("key_of", Span, to=Key, doc="The key that is given out for it now.")
entry = m.pfun("entry", Key, to=Span, doc="Which span's text lies under the key.")
since = m.fun("since_audit", to=Count, initial=Count.zero)
status = m.fun("status_of", to=Status, initial=Status.lossless)
