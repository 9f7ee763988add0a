"""Index: raw spans that leave the window keep an entry of their own, and `lossless` is said only while they do.

A span leaves the window with an entry in the retrieval index, under a key that is given out once. Later passes draw
their spans differently, so that a coarser span may lie over earlier ones; it gets an entry of its own and the
earlier ones stay. A pass that would move an entry to another key halts and says which entry. Compactions are
counted, and before a period is over an audit has to fetch a span that has left the window. The world may damage an
entry; whoever fetches it finds out, and the status is degraded until the entry is repaired. While it is, nothing
more leaves the window, unless a caller has accepted the loss, which is on record.

What this machine leaves out: which fact is pinned and that it comes back verbatim (an entry holds the right span or
it does not), the number 500 (here: any period), and why a status is degraded beyond which entry it was. The lifetime
of entries is one step that may come at any moment. That equal texts stay different spans needs spans with equal
texts: texts are given data, and any spans may share one.
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
    "entries",
    "immutable",
    "replaceable",
    default="immutable",
    doc="Whether a pass may put an entry in another's place.",
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
over = m.rel("horizon_over", Span, doc="Nobody may ask for the original any more.")
known = m.rel("known_missing", Span, doc="Somebody fetched it in vain; on record until it is repaired.")
accepted = m.rel("loss_accepted", doc="A caller has accepted the loss; on record.")
halted = m.rel("halted", Span, doc="A pass that would have re-keyed this span's entry has halted and named it.")
damaged = m.rel("damaged", Span, ghost=True, doc="The world has damaged its entry.")
issued = m.rel("issued", Span, Key, ghost=True, doc="The key was given out for the span, at some time.")

compactor = m.worker("compactor", writes=[place, key, entry, since, halted, issued])
auditor = m.worker("auditor", writes=[since, status, known, accepted, entry, damaged], doc="Fetches as readers do.")
caller = m.worker("caller", writes=[accepted])

s, t, k, j, c, d = Span("s"), Span("t"), Key("k"), Key("j"), Count("c"), Count("d")

evicted = place(s) == Place.evicted
lossless = status() == Status.lossless

m.action(
    "evict",
    s,
    k,
    c,
    d,
    by=compactor,
    event="evict",
    doc="A compaction moves a span out of the window; it gets an entry under a key of its own.",
    guards=[
        safety("in the window", place(s) == Place.window),
        safety("lossless, or loss accepted", lossless | accepted()),
        safety(
            "key of its own",
            ((keys == "by-span") & forall(t, ~(key(t) == k)))
            | (~(keys == "by-span") & forall(t, key(t).defined >> ((key(t) == k) == (text(t) == text(s))))),
        ),
        safety("so many since the audit", since() == c),
        safety("one more", succ(c, d)),
        safety("no audit due", (audits == "off") | (c < period())),
    ],
    updates=[
        place(s).becomes(Place.evicted),
        key(s).becomes(k),
        issued(s, k).becomes(True),
        entry(j).becomes(
            s,
            when=((j == k) & ~entry(j).defined)
            | ((entries == "replaceable") & ((j == k) | exists(t, (key(t) == j) & within(t, s)))),
            each=j,
        ),
        since().becomes(d),
    ],
)
m.action(
    "re-key",
    s,
    j,
    k,
    by=compactor,
    event="refuse",
    doc="A pass would move a span's entry to another key. It halts, and names the entry.",
    guards=[
        realism("its key", key(s) == j, "only what has a key can be given another"),
        bound("another key", j != k, "a pass that keeps the key moves nothing"),
        realism("free", ~entry(k).defined, "the key that a pass would move to is its own choice"),
    ],
    updates=[
        halted(s).becomes(True, when=entries == "immutable"),
        key(s).becomes(k, when=entries == "replaceable"),
        issued(s, k).becomes(True, when=entries == "replaceable"),
        entry(k).becomes(s, when=entries == "replaceable"),
        entry(j).cleared(when=entries == "replaceable"),
    ],
)
m.action(
    "audit",
    s,
    k,
    by=auditor,
    event="audit",
    doc="A span that has left the window is fetched by its key, as a reader would, and is there.",
    guards=[
        realism("its key", key(s) == k, "a pinned span's key is known"),
        realism("there", entry(k) == s, "otherwise the audit is a fetch in vain"),
        bound("something to count", since() != Count.zero, "counting from nothing changes nothing"),
    ],
    updates=[since().becomes(Count.zero)],
)
m.action(
    "fetch in vain",
    s,
    k,
    by=auditor,
    event="degrade",
    doc="An audit or a reader follows a key and does not find the span: the index is degraded, and that is said.",
    guards=[
        safety("its key", key(s) == k),
        safety("not there", ~(entry(k) == s)),
        realism("before the horizon", ~over(s), "nobody asks later"),
    ],
    updates=[status().becomes(Status.degraded), known(s).becomes(True)],
)
m.action(
    "repair",
    s,
    k,
    by=auditor,
    event="repair",
    doc="A missing entry is written again; once none is missing that is known of, the index is lossless again.",
    guards=[
        bound("known", known(s), "repairing what is whole changes nothing"),
        safety("its key", key(s) == k),
    ],
    updates=[
        entry(k).becomes(s),
        damaged(s).becomes(False),
        known(s).becomes(False),
        status().becomes(Status.lossless, when=forall(t, known(t) >> (t == s))),
        accepted().becomes(False),
    ],
)
m.action(
    "accept loss",
    by=caller,
    event="degrade",
    doc="A caller lets compaction go on although the index is degraded.",
    guards=[
        safety("degraded", ~lossless),
        bound("once", ~accepted(), "accepting again changes nothing"),
    ],
    updates=[accepted().becomes(True)],
)
m.action(
    "horizon ends",
    s,
    event="expire",
    fault=True,
    doc="The time is over in which the original may be asked for.",
    guards=[
        realism("evicted", evicted, "what is in the window has no entry to expire"),
        bound("once", ~over(s), "it ends once"),
    ],
    updates=[over(s).becomes(True)],
)
m.action(
    "expire",
    s,
    k,
    event="reap",
    fault=True,
    doc="The lifetime of an entry ends.",
    guards=[
        safety("its own", entry(k) == s),
        safety("not before the horizon", (lifetime == "shorter") | over(s)),
    ],
    updates=[entry(k).cleared()],
)
m.action(
    "damage",
    s,
    k,
    event="crash",
    fault=True,
    doc="The store loses an entry.",
    guards=[safety("there", entry(k) == s)],
    updates=[entry(k).cleared(), damaged(s).becomes(True)],
)

# What the rules say.

owed = evicted & ~over(s) & ~damaged(s)

m.invariant(
    "every evicted span has its entry",
    forall(s, owed >> exists(k, (key(s) == k) & (entry(k) == s))),
    rules=["IDX-1"],
    doc="Until the horizon, unless the world has damaged it.",
)
m.transition(
    "key and content never change",
    forall(s, k, (key(s) == k) >> (key(s).next == k))
    & forall(s, k, (entry(k) == s) >> ((entry(k).next == s) | ~entry(k).next.defined)),
    rules=["IDX-1"],
    doc="A key stays the span's, and nothing else ever lies where its text lay.",
)
m.invariant(
    "different spans have different keys",
    forall(s, t, k, ((key(s) == k) & (key(t) == k)) >> (s == t)),
    rules=["IDX-2"],
    doc="Whether or not they say the same.",
)
m.transition(
    "a pass that would re-key halts and says which",
    forall(k, s, ((entry(k) == s) == (entry(k).next == s)) & ((key(s) == k) == (key(s).next == k)))
    & exists(s, halted(s).next),
    on=["re-key"],
    rules=["IDX-3"],
    doc="It changes no entry and no key.",
)
m.invariant(
    "every key given out resolves",
    forall(s, k, (issued(s, k) & owed) >> (entry(k) == s)),
    rules=["IDX-4"],
    doc="However often spans were drawn anew since.",
)
m.invariant(
    "lossless is true",
    forall(s, lossless >> ~known(s))
    & (lossless >> (since() <= period()))
    & forall(s, (lossless & owed) >> exists(k, (key(s) == k) & (entry(k) == s))),
    rules=["RET-1"],
    doc="It is reported only while entries stay under their spans' keys to the horizon, audited, none known missing.",
)
m.invariant(
    "audited within the period",
    since() <= period(),
    rules=["RET-2"],
    doc="Never more compactions without an audit than the period allows.",
)
m.transition(
    "every compaction is counted",
    since() < since().next,
    on=["evict"],
    rules=["RET-2"],
    doc="Otherwise no period would ever be over.",
)
m.transition(
    "degraded has a true reason",
    forall(s, (known(s).next & ~known(s)) >> evicted)
    & forall(s, k, (known(s).next & ~known(s) & (key(s) == k)) >> ~(entry(k) == s)),
    rules=["RET-1"],
    doc="What is named as missing has left the window and is not under its key.",
)
m.transition(
    "degraded stops the losses",
    forall(s, ((place(s) == Place.window) & (place(s).next == Place.evicted)) >> (lossless | accepted())),
    rules=["RET-3"],
    doc="While degraded nothing leaves the window, unless a caller has accepted the loss.",
)
m.transition(
    "a loss is accepted for what is known",
    (accepted().next & ~accepted()) >> ~lossless,
    rules=["RET-3"],
    doc="No override lies ready before there is something to accept.",
)

# What the proofs need besides.

m.auxiliary("what has an entry has left the window", forall(s, k, (entry(k) == s) >> (key(s) == k)))
m.auxiliary("a key that is known is the one given out", forall(s, k, issued(s, k) >> (key(s) == k)))
m.auxiliary("what is in the window has no key", forall(s, key(s).defined >> evicted))

m.sometimes(
    "equal texts have entries of their own",
    exists(s, t, k, j, (s != t) & (text(s) == text(t)) & (entry(k) == s) & (entry(j) == t)),
)
m.sometimes(
    "a span was drawn over an earlier one, and both are there",
    exists(s, t, k, j, within(s, t) & (entry(k) == s) & (entry(j) == t)),
)
m.sometimes("a loss was accepted", exists(s, known(s) & accepted()))
m.may_rest(forall(s, evicted))

m.instance("small", spans=2, keys=2, texts=1, counts=2)

machine = m.build()
