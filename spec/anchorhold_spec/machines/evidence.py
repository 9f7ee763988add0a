"""Evidence: what may have to be proved later is replaced by a summary only while its original can be had.

Two things decide whether a span may be lossily reclaimed, and nothing else does: what kind of content it has, and
whether there is a durable pointer to an original that can be retrieved until the horizon. The gate looks first and
the span leaves later. Meanwhile others go on: lifetimes end, and a cleaner deletes originals that nobody needs, also
in two steps, as it does not know what the gate has just decided.

What this machine leaves out: how the class is found in the text (EVI-4), here it is given; what a summary says and
omits (EVI-6), here it either names its omissions or does not; where a pointer leads (`pointer-before-commit`).
"""

from anchorhold_spec.language import MachineBuilder, bound, forall, realism, safety

m = MachineBuilder(
    "evidence",
    "Class and provenance decide whether a summary may replace a span; whatever else happens, evidence stays.",
)

Span = m.sort("span", symmetric=True, doc="A contiguous run of raw turns.")
Class = m.enum("class", "narrative", "structured", "side_effecting", doc="What kind of content the span has.")
Fate = m.enum("fate", "verbatim", "cleared", "reclaimed", doc="Cleared: the gate has let it pass; it is still there.")
Pointer = m.enum("pointer", "missing", "written", "durable")
Original = m.enum("original", "missing", "expiring", "kept", doc="Expiring: its lifetime may end before the horizon.")

believed = m.switch(
    "classes", "computed", "declared", default="computed", doc="Whether the gate goes by the content or by its label."
)
expiring = m.switch(
    "expiring",
    "not-retrievable",
    "retrievable",
    default="not-retrievable",
    doc="How it counts an original that may expire.",
)

kind = m.rigid_fun("class_of", Span, to=Class, doc="As found in the content.")
labelled = m.rigid_rel("labelled_narrative", Span, doc="Whoever appended the span says that it is narrative.")
fate = m.fun("fate_of", Span, to=Fate, initial=Fate.verbatim)
pointer = m.fun("pointer_of", Span, to=Pointer, initial=Pointer.missing)
original = m.fun("original_of", Span, to=Original, initial=Original.missing, doc="In the cold store.")
omissions = m.rel("omissions_named", Span, doc="The span's summary says what it leaves out.")
insufficient = m.rel("insufficient", Span, doc="The outcome says: insufficient provenance, original retained.")
doomed = m.rel("doomed", Span, doc="The cleaner has looked and is about to delete the original; in memory only.")
over = m.rel("horizon_over", Span, doc="Nobody may ask for evidence any more.")

compactor = m.worker("compactor", writes=[fate, pointer, original, omissions, insufficient])
cleaner = m.worker("cleaner", writes=[original, doomed], doc="Deletes originals that nobody needs.")

s = Span("s")

narrative = kind(s) == Class.narrative
seems_narrative = ((believed == "computed") & narrative) | ((believed == "declared") & labelled(s))
lasts = (original(s) == Original.kept) | ((expiring == "retrievable") & (original(s) == Original.expiring))
permitted = seems_narrative | ((pointer(s) == Pointer.durable) & lasts & omissions(s) & ~doomed(s))
verbatim = fate(s) == Fate.verbatim

m.action(
    "store",
    s,
    by=compactor,
    event="copy",
    doc="The original lands in the cold store, with a lifetime that nobody has compared with the horizon.",
    guards=[safety("missing", original(s) == Original.missing)],
    updates=[original(s).becomes(Original.expiring)],
)
m.action(
    "keep",
    s,
    by=compactor,
    event="repair",
    doc="The original's lifetime is extended to the horizon.",
    guards=[realism("still there", original(s) == Original.expiring, "what is gone cannot be kept longer")],
    updates=[original(s).becomes(Original.kept)],
)
m.action(
    "point",
    s,
    by=compactor,
    doc="A pointer to the original is written.",
    guards=[safety("missing", pointer(s) == Pointer.missing)],
    updates=[pointer(s).becomes(Pointer.written)],
)
m.action(
    "make durable",
    s,
    by=compactor,
    event="point",
    doc="The pointer will survive a crash.",
    guards=[realism("written", pointer(s) == Pointer.written, "only what was written can be made durable")],
    updates=[pointer(s).becomes(Pointer.durable)],
)
m.action(
    "name omissions",
    s,
    by=compactor,
    event="stage",
    doc="The summary says what it leaves out. That it may never happen is the summariser's freedom.",
    guards=[realism("not committed", verbatim, "what was committed is not rewritten")],
    updates=[omissions(s).becomes(True)],
)
m.action(
    "clear",
    s,
    by=compactor,
    doc="The gate lets a span pass.",
    guards=[
        safety("verbatim", verbatim),
        safety("narrative or durable pointer", seems_narrative | (pointer(s) == Pointer.durable)),
        safety("narrative or lasting original", seems_narrative | lasts),
        safety("narrative or original not about to be deleted", seems_narrative | ~doomed(s)),
        safety("narrative or omissions named", seems_narrative | omissions(s)),
    ],
    updates=[fate(s).becomes(Fate.cleared), insufficient(s).becomes(False)],
)
m.action(
    "reclaim",
    s,
    by=compactor,
    event="commit",
    doc="The summary takes the span's place, whatever has happened since the gate let it pass.",
    guards=[safety("cleared", fate(s) == Fate.cleared)],
    updates=[fate(s).becomes(Fate.reclaimed)],
)
m.action(
    "retain",
    s,
    by=compactor,
    event="refuse",
    doc="The gate turns a span down, and the outcome says why.",
    guards=[
        safety("verbatim", verbatim),
        realism("not permitted", ~permitted, "what may pass is not turned down"),
    ],
    updates=[insufficient(s).becomes(True)],
)
m.action(
    "doom",
    s,
    by=cleaner,
    event="propose",
    doc="The cleaner finds that nobody needs an original: the span is still there, or nobody may ask any more.",
    guards=[
        safety("not needed", narrative | verbatim | over(s)),
        bound("there", original(s) != Original.missing, "there is nothing to delete"),
    ],
    updates=[doomed(s).becomes(True)],
)
m.action(
    "delete",
    s,
    by=cleaner,
    event="reap",
    doc="The cleaner deletes what it has chosen, whatever has happened since.",
    guards=[safety("chosen", doomed(s))],
    updates=[original(s).becomes(Original.missing), doomed(s).becomes(False)],
)
m.action(
    "lifetime ends",
    s,
    event="expire",
    fault=True,
    doc="An original that had a lifetime is gone, at any moment.",
    guards=[safety("expiring", original(s) == Original.expiring)],
    updates=[original(s).becomes(Original.missing)],
)
m.action(
    "horizon ends",
    s,
    event="expire",
    fault=True,
    doc="The time is over in which evidence may be asked for.",
    guards=[safety("reclaimed", fate(s) == Fate.reclaimed)],
    updates=[over(s).becomes(True)],
)
m.action(
    "crash",
    event="crash",
    fault=True,
    doc="What was only in memory is gone: pointers just written, summaries not committed, what was about to happen.",
    updates=[
        pointer(s).becomes(Pointer.missing, when=pointer(s) == Pointer.written, each=s),
        omissions(s).becomes(False, when=fate(s) != Fate.reclaimed, each=s),
        fate(s).becomes(Fate.verbatim, when=fate(s) == Fate.cleared, each=s),
        doomed(s).becomes(False, each=s),
    ],
)

# What the rules say.

provable = (pointer(s) == Pointer.durable) & (original(s) == Original.kept)

m.transition(
    "two cells permit it",
    forall(s, ((fate(s) != Fate.reclaimed) & (fate(s).next == Fate.reclaimed)) >> (narrative | provable)),
    rules=["EVI-1"],
    doc="The moment that a span is reclaimed it is narrative, or has a durable pointer and an original that lasts.",
)
m.invariant(
    "evidence stays to the horizon",
    forall(s, ((fate(s) == Fate.reclaimed) & ~narrative & ~over(s)) >> provable),
    rules=["EVI-1", "EVI-3"],
    doc="What was reclaimed can be proved until the horizon: no original that could expire was counted on.",
)
m.invariant(
    "omissions are named",
    forall(s, ((fate(s) == Fate.reclaimed) & ~narrative) >> omissions(s)),
    rules=["EVI-2"],
    doc="A summary of structured content names what it omits.",
)
m.invariant(
    "original retained",
    forall(s, insufficient(s) >> verbatim),
    rules=["EVI-2"],
    doc="Where the outcome says that provenance is insufficient, the span is there verbatim.",
)
m.transition(
    "turned down changes nothing",
    forall(s, (insufficient(s).next & ~insufficient(s)) >> (fate(s) == fate(s).next)),
    rules=["EVI-2"],
    on=["retain"],
    doc="A refusal leaves the span as it is.",
)

# What the proofs need besides.

m.auxiliary(
    "what was let pass is provable meanwhile",
    forall(s, ((fate(s) != Fate.verbatim) & ~narrative & ~over(s)) >> (provable & omissions(s) & ~doomed(s))),
)
m.auxiliary("a horizon is that of a reclaimed span", forall(s, over(s) >> (fate(s) == Fate.reclaimed)))

m.may_rest(forall(s, fate(s) == Fate.reclaimed))
m.instance("one span", spans=1)
m.instance("two spans", large=True, spans=2)

machine = m.build()
