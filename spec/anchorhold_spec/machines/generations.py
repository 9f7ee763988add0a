"""Generations: a summary may replace summaries, and still leads straight to every original beneath it.

A compaction declares what its summary is to stand for, carrier by carrier; the summariser is shown carriers; what is
to leave the window is settled; then the summary commits, and takes the place of what leaves. Those three sets are one
and the same at every commit. Pointers are flattened when a carrier is declared: what a summary already leads to, its
successor leads to as well, so that nobody has to walk from summary to summary. Only what is in the window can be
declared, so no summary is ever beneath itself and generations need no numbers. Several compactions run at once, and
whatever the others commit meanwhile is seen at the commit.

What this machine leaves out: what a summary says (the summariser may drop anything), and whether an original is still
in its store when a pointer leads to it (see `pointer-before-commit` and `asynchronous-copy`). Coverage by count is
stated more loosely than it is built: any carriers of the window may leave, not only as many as were declared. (In the
shortest run to a broken rule one was declared and one, another, leaves.)
"""

from anchorhold_spec.language import MachineBuilder, bound, exists, forall, safety

m = MachineBuilder(
    "generations",
    "Carriers are declared, shown, and leave the window when the summary that stands for them commits.",
)

Carrier = m.sort("carrier", symmetric=True, doc="What holds facts: a raw span or a summary.")
Raw = m.part("raw", Carrier, doc="Raw spans: the originals.")
Summary = m.part("summary", Carrier, plural="summaries", doc="Summaries, of any generation.")
Phase = m.enum("phase", "open", "written", "committed", doc="How far a summary is.")

coverage = m.switch(
    "coverage", "by-identity", "by-count", default="by-identity", doc="How it is settled what leaves the window."
)
pointers = m.switch(
    "pointers",
    "flattened",
    "chained",
    default="flattened",
    doc="Whether a summary leads to originals or to carriers.",
)
reader = m.switch(
    "reader", "sees-all", "keyhole", default="sees-all", doc="Whether the summariser may get less than was declared."
)

phase = m.fun("phase_of", Summary, to=Phase, initial=Phase.open, doc="Durable once committed.")
window = m.rel("in_window", Carrier, doc="The model sees it. Durable.")
declared = m.rel("declares", Summary, Carrier, doc="The summary says that it stands for it.")
shown = m.rel("shown", Summary, Carrier, doc="The summariser was given it to read.")
leaving = m.rel("leaving", Summary, Carrier, doc="Is to leave the window when the summary commits.")
pointer = m.rel("pointer", Summary, Raw, doc="The summary leads to the original in one step.")
removed = m.rel("removed", Summary, Carrier, ghost=True, doc="Left the window when the summary committed.")
beneath = m.rel("beneath", Summary, Raw, ghost=True, doc="The original is under it, however many steps down.")

compactor = m.worker(
    "compactor",
    writes=[phase, window, declared, shown, leaving, pointer, removed, beneath],
    doc="Several at once: one for each summary.",
)

x, o, r, c = Summary("x"), Summary("o"), Raw("r"), Carrier("c")

committed = phase(x) == Phase.committed

m.initially(window(r).becomes(True, each=r))
m.action(
    "declare a span",
    x,
    r,
    by=compactor,
    doc="The summary is to stand for a raw span, and leads to it.",
    guards=[
        safety("open", phase(x) == Phase.open),
        bound("in the window", window(r), "what is not there when the summary commits keeps it from committing"),
    ],
    updates=[declared(x, r).becomes(True), pointer(x, r).becomes(True)],
)
m.action(
    "declare a summary",
    x,
    o,
    by=compactor,
    doc="The summary is to stand for an earlier one, and leads to all that the earlier one leads to.",
    guards=[
        safety("open", phase(x) == Phase.open),
        safety("in the window", window(o)),
    ],
    updates=[
        declared(x, o).becomes(True),
        pointer(x, r).becomes(True, when=pointer(o, r) & (pointers == "flattened"), each=r),
    ],
)
m.action(
    "show",
    x,
    c,
    by=compactor,
    doc="The summariser is given a carrier to read.",
    guards=[
        bound("open", phase(x) == Phase.open, "once it is written all of it has been shown"),
        safety("declared", declared(x, c)),
    ],
    updates=[shown(x, c).becomes(True)],
)
m.action(
    "write",
    x,
    by=compactor,
    event="stage",
    doc="The summary is written, from what was shown.",
    guards=[
        safety("open", phase(x) == Phase.open),
        bound("something", exists(c, declared(x, c)), "a summary of nothing replaces nothing"),
        safety("all of it was shown", (reader == "keyhole") | forall(c, declared(x, c) >> shown(x, c))),
    ],
    updates=[phase(x).becomes(Phase.written)],
)
m.action(
    "settle",
    x,
    c,
    by=compactor,
    event="propose",
    doc="It is settled that a carrier leaves the window when the summary commits.",
    guards=[
        bound("written", phase(x) == Phase.written, "what is settled earlier is looked at again when it commits"),
        bound("in the window", window(c), "what is not there when the summary commits keeps it from committing"),
        safety("declared", (coverage == "by-count") | declared(x, c)),
    ],
    updates=[leaving(x, c).becomes(True)],
)
m.action(
    "commit",
    x,
    by=compactor,
    event="commit",
    doc="The summary takes the place of what leaves the window.",
    guards=[
        safety("written", phase(x) == Phase.written),
        safety(
            "all of it leaves",
            forall(c, declared(x, c) >> leaving(x, c)) | ((coverage == "by-count") & exists(c, leaving(x, c))),
        ),
        safety("all of it is still there", forall(c, leaving(x, c) >> window(c))),
    ],
    updates=[
        phase(x).becomes(Phase.committed),
        window(c).becomes(c == x, when=leaving(x, c) | (c == x), each=c),
        removed(x, c).becomes(True, when=leaving(x, c) & window(c), each=c),
        beneath(x, r).becomes(leaving(x, r) | exists(o, leaving(x, o) & beneath(o, r)), each=r),
    ],
)
m.action(
    "abandon",
    x,
    by=compactor,
    event="refuse",
    doc="A compaction that has not committed is given up, for instance because another has taken its carriers.",
    guards=[
        safety("not committed", ~committed),
        bound("begun", exists(c, declared(x, c)), "giving up nothing changes nothing"),
    ],
    updates=[
        phase(x).becomes(Phase.open),
        declared(x, c).becomes(False, each=c),
        shown(x, c).becomes(False, each=c),
        leaving(x, c).becomes(False, each=c),
        pointer(x, r).becomes(False, each=r),
    ],
)
m.action(
    "crash",
    event="crash",
    fault=True,
    doc="Compactions that have not committed are gone.",
    updates=[
        phase(x).becomes(Phase.open, when=~committed, each=x),
        declared(x, c).becomes(False, when=~committed, each=(x, c)),
        shown(x, c).becomes(False, when=~committed, each=(x, c)),
        leaving(x, c).becomes(False, when=~committed, each=(x, c)),
        pointer(x, r).becomes(False, when=~committed, each=(x, r)),
    ],
)

# What the rules say.

m.invariant(
    "exact coverage",
    forall(x, c, committed >> ((removed(x, c) == declared(x, c)) & (declared(x, c) == shown(x, c)))),
    rules=["PTR-3"],
    doc="A committed summary's carriers: removed, declared and shown are the same.",
)
m.transition(
    "nothing leaves by itself",
    forall(c, (window(c) & ~window(c).next) >> exists(x, declared(x, c) & ~removed(x, c) & removed(x, c).next)),
    rules=["PTR-3"],
    doc="What leaves the window leaves it under a summary that declares it, in the step in which that one commits.",
)
m.invariant(
    "every original one step away",
    forall(x, r, (committed & beneath(x, r)) >> pointer(x, r)),
    rules=["PTR-4"],
    doc="Whatever the generation, a committed summary itself leads to every original beneath it.",
)
m.transition(
    "what a summary leads to stays",
    forall(x, r, (committed & pointer(x, r)) >> pointer(x, r).next),
    rules=["PTR-4"],
    doc="When a summary is replaced by another, its own pointers stay.",
)

# What the proofs need besides.

m.auxiliary("only committed summaries are in the window", forall(x, window(x) >> committed))
m.auxiliary("only committed summaries are declared", forall(x, o, declared(x, o) >> (phase(o) == Phase.committed)))
m.auxiliary("a summary leads to each span it declares", forall(x, r, declared(x, r) >> pointer(x, r)))
m.auxiliary(
    "a summary leads where those it declares lead",
    forall(x, o, r, (declared(x, o) & pointer(o, r)) >> pointer(x, r)),
)
m.auxiliary("only what is declared is to leave", forall(x, c, leaving(x, c) >> declared(x, c)))
m.auxiliary("only what is declared is shown", forall(x, c, shown(x, c) >> declared(x, c)))
m.auxiliary(
    "what is written was shown",
    forall(x, c, ((phase(x) == Phase.written) & declared(x, c)) >> shown(x, c)),
)
m.auxiliary("only a commit removes", forall(x, c, removed(x, c) >> committed))

m.sometimes(
    "an original lies beneath a summary of a summary",
    exists(x, o, r, committed & declared(x, o) & beneath(o, r)),
)
m.sometimes(
    "a summary stands for two carriers", exists(x, r, c, committed & removed(x, r) & removed(x, c) & (r != c))
)
m.sometimes(
    "another compaction has taken what one declares",
    exists(x, r, declared(x, r) & (phase(x) == Phase.written) & ~window(r)),
)
m.may_rest(forall(x, committed))

m.instance("two generations", raws=1, summaries=2)
m.instance("two spans", raws=2, summaries=1)
m.instance("medium", large=True, raws=2, summaries=2)

machine = m.build()
