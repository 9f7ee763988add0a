"""Concurrency: turns arrive, other compactions commit, and the caller clears, while a summary is being written.

A compaction takes a snapshot of the window and remembers the window's version; it chooses what its summary is to
cover and writes the summary, which takes long. Its commit takes effect only if the version is still the same, and
replaces what it covers and nothing else. Everything that takes something out of the window makes a new version:
another commit, and clear, forget and rewind, which are one step here that withdraws turns: all of them, one, or one
and all later ones. A turn that is appended makes none, for a commit leaves alone what it does not cover.

A summary that covers a withdrawn turn goes with it, and the other turns that it covers are in the window again, raw.
What this machine leaves out: that originals can be had again for that (see `pointer-before-commit`), the copies that
a forgotten content has elsewhere (see `erasure`), summaries of summaries (see `generations`), and the order within
the window: a turn keeps its place in it or is out of it.
"""

from anchorhold_spec.language import MachineBuilder, bound, exists, forall, realism, safety, succ

m = MachineBuilder(
    "concurrency",
    "A summary commits only over the window that it was written from; what is withdrawn meanwhile stays withdrawn.",
)

Turn = m.sort("turn", doc="What enters the transcript, in order.")
Pass = m.sort("pass", plural="passes", symmetric=True, doc="One compaction and the summary that it writes.")
Version = m.ordered("version", doc="How often something was taken out of the window.")
Place = m.enum(
    "place", "unseen", "window", "covered", "withdrawn", "lost", doc="Where a turn is: raw in the window, …"
)
Phase = m.enum("phase", "idle", "writing", "committed", "discarded", doc="How far a compaction is.")

checking = m.switch(
    "version-check", "at-commit", "none", default="at-commit", doc="Whether a commit looks if the window is the same."
)
writing_back = m.switch(
    "write-back",
    "covered-only",
    "whole-window",
    default="covered-only",
    doc="Whether a commit replaces what it covers, or writes the window as the snapshot had it.",
)
withdrawing = m.switch(
    "withdrawing",
    "new-version",
    "same-version",
    default="new-version",
    doc="Whether clear, forget and rewind make a new version.",
)

later = m.rigid_rel("later", Turn, Turn, given=lambda t, u: t < u, doc="The second one came after the first.")
place = m.fun("place_of", Turn, to=Place, initial=Place.unseen, doc="Durable.")
version = m.fun("window_version", to=Version, initial=Version.zero, doc="Of the window. Durable.")
phase = m.fun("phase_of", Pass, to=Phase, initial=Phase.idle)
taken_at = m.pfun("snapshot_version", Pass, to=Version, doc="The window's version at the snapshot; in memory.")
seen = m.rel("in_snapshot", Pass, Turn, doc="Was raw in the window at the snapshot; in memory.")
covers = m.rel("covers", Pass, Turn, doc="The summary stands for it.")

agent = m.worker("agent", writes=[place])
compactor = m.worker("compactor", writes=[place, version, phase, taken_at, seen, covers], doc="Several at once.")
caller = m.worker("caller", writes=[place, version, phase], doc="Clears, forgets, rewinds.")

t, u, p, q, v, n = Turn("t"), Turn("u"), Pass("p"), Pass("q"), Version("v"), Version("n")

writing = phase(p) == Phase.writing
committed = phase(p) == Phase.committed

m.action(
    "append",
    t,
    by=agent,
    event="append",
    doc="A turn enters the window.",
    guards=[safety("new", place(t) == Place.unseen)],
    updates=[place(t).becomes(Place.window)],
)
m.action(
    "snapshot",
    p,
    v,
    by=compactor,
    event="stage",
    doc="A compaction reads the window and its version.",
    guards=[
        safety("idle", phase(p) == Phase.idle),
        safety("this version", version() == v),
    ],
    updates=[
        phase(p).becomes(Phase.writing),
        taken_at(p).becomes(v),
        seen(p, t).becomes(place(t) == Place.window, each=t),
    ],
)
m.action(
    "choose",
    p,
    t,
    by=compactor,
    doc="The summary that is being written is to cover a turn of the snapshot.",
    guards=[
        realism("writing", writing, "whoever has taken no snapshot has nothing in it"),
        safety("in the snapshot", seen(p, t)),
    ],
    updates=[covers(p, t).becomes(True)],
)
m.action(
    "commit",
    p,
    v,
    n,
    by=compactor,
    event="commit",
    doc="The summary takes the place of what it covers.",
    guards=[
        realism("writing", writing, "whoever has taken no snapshot has nothing to replace it with"),
        bound("of something", exists(t, covers(p, t)), "a summary of nothing replaces nothing"),
        safety("this version", version() == v),
        safety("the version of the snapshot", (checking == "none") | (taken_at(p) == v)),
        safety("next version", succ(v, n)),
    ],
    updates=[
        version().becomes(n),
        phase(p).becomes(Phase.committed),
        place(t).becomes(Place.covered, when=covers(p, t), each=t),
        place(t).becomes(Place.window, when=~covers(p, t) & seen(p, t) & (writing_back == "whole-window"), each=t),
        place(t).becomes(
            Place.lost,
            when=~covers(p, t) & ~seen(p, t) & (place(t) == Place.window) & (writing_back == "whole-window"),
            each=t,
        ),
        seen(p, t).becomes(False, each=t),
    ],
)
m.action(
    "give up",
    p,
    by=compactor,
    event="refuse",
    doc="A compaction does not commit: the window has changed, or it has no need to.",
    guards=[safety("writing", writing)],
    updates=[
        phase(p).becomes(Phase.idle),
        seen(p, t).becomes(False, each=t),
        covers(p, t).becomes(False, each=t),
    ],
)

there = place(u).one_of(Place.window, Place.covered)
for name, hit, doc in (
    ("forget", u == t, "The caller withdraws one turn."),
    ("rewind", (u == t) | later(t, u), "The caller withdraws one turn and all later ones."),
):
    w = Turn("w")
    also = (w == t) if name == "forget" else (w == t) | later(t, w)
    m.action(
        name,
        t,
        v,
        n,
        by=caller,
        event=name,
        doc=f"{doc} Summaries that cover any of it go too; what else they cover is raw again.",
        guards=[
            bound("there", place(t).one_of(Place.window, Place.covered), "withdrawing nothing changes nothing"),
            safety("this version", version() == v),
            safety("next version", succ(v, n)),
        ],
        updates=[
            version().becomes(n, when=withdrawing == "new-version"),
            place(u).becomes(Place.withdrawn, when=hit & there, each=u),
            place(u).becomes(
                Place.window,
                when=~hit & exists(p, committed & covers(p, u) & exists(w, covers(p, w) & also)),
                each=u,
            ),
            phase(p).becomes(Phase.discarded, when=committed & exists(w, covers(p, w) & also), each=p),
        ],
    )
m.action(
    "clear",
    v,
    n,
    by=caller,
    event="clear",
    doc="The caller withdraws everything.",
    guards=[
        bound("something there", exists(u, there), "withdrawing nothing changes nothing"),
        safety("this version", version() == v),
        safety("next version", succ(v, n)),
    ],
    updates=[
        version().becomes(n, when=withdrawing == "new-version"),
        place(u).becomes(Place.withdrawn, when=there, each=u),
        phase(p).becomes(Phase.discarded, when=committed, each=p),
    ],
)
m.action(
    "crash",
    event="crash",
    fault=True,
    doc="Summaries that were being written are gone.",
    updates=[
        phase(p).becomes(Phase.idle, when=writing, each=p),
        seen(p, t).becomes(False, each=(p, t)),
        covers(p, t).becomes(False, when=writing, each=(p, t)),
    ],
)

# What the rules say.

m.invariant(
    "what was appended survives",
    forall(t, place(t) != Place.lost) & forall(t, (place(t) == Place.covered) >> exists(p, committed & covers(p, t))),
    rules=["CON-1"],
    doc="A turn that arrived is raw in the window or under a summary there, unless the caller has withdrawn it.",
)
m.transition(
    "a commit replaces what it covers and nothing else",
    forall(
        t,
        (place(t) == Place.window)
        >> ((place(t).next == Place.window) | exists(p, writing & covers(p, t) & (phase(p).next == Phase.committed))),
    ),
    on=["commit"],
    rules=["CON-1"],
    doc="Turns that were appended since the snapshot stay where they are.",
)
m.invariant(
    "nothing is covered twice",
    forall(p, q, t, (committed & (phase(q) == Phase.committed) & covers(p, t) & covers(q, t)) >> (p == q)),
    rules=["CON-2"],
    doc="Of two compactions that overlap at most one has committed.",
)
m.can_end(
    "one of two commits",
    trigger=exists(
        p,
        q,
        t,
        v,
        n,
        (p != q)
        & writing
        & (phase(q) == Phase.writing)
        & covers(p, t)
        & covers(q, t)
        & (taken_at(p) == v)
        & (version() == v)
        & succ(v, n),
    ),
    goal=exists(p, committed),
    rules=["CON-2"],
    doc="Neither of two overlapping compactions keeps the other from committing.",
)
m.transition(
    "what is withdrawn stays withdrawn",
    forall(t, (place(t) == Place.withdrawn) >> (place(t).next == Place.withdrawn)),
    rules=["CON-3"],
    doc="No turn that was cleared, forgotten or rewound is in the window again.",
)
m.invariant(
    "no summary has what is withdrawn",
    forall(p, t, (committed & covers(p, t)) >> (place(t) == Place.covered)),
    rules=["CON-3"],
    doc="Nor does a summary that was being written bring it back.",
)

# What the proofs need besides.

m.auxiliary("no snapshot is ahead of the window", forall(p, v, (taken_at(p) == v) >> (v <= version())))
m.auxiliary("only what was raw is to be covered", forall(p, t, (writing & covers(p, t)) >> seen(p, t)))
m.auxiliary(
    "as long as the version is the same, what was raw is",
    forall(p, t, (writing & seen(p, t) & (taken_at(p) == version())) >> (place(t) == Place.window)),
)
m.auxiliary("only a compaction under way has a snapshot", forall(p, t, seen(p, t) >> writing))
m.auxiliary(
    "a commit makes its own snapshot old",
    forall(p, v, (phase(p).one_of(Phase.committed, Phase.discarded) & (taken_at(p) == v)) >> (v < version())),
)
m.auxiliary("an idle compaction covers nothing", forall(p, t, (phase(p) == Phase.idle) >> ~covers(p, t)))

m.sometimes(
    "a turn arrived while a summary was written, and both are there",
    exists(p, t, u, committed & covers(p, t) & (place(u) == Place.window)),
)
m.sometimes(
    "of two overlapping compactions one has committed",
    exists(p, q, t, committed & (phase(q) == Phase.writing) & covers(p, t) & covers(q, t)),
)
m.sometimes(
    "something was withdrawn while a summary of it was written",
    exists(p, t, writing & covers(p, t) & (place(t) == Place.withdrawn)),
)
m.may_rest(exists(v, (version() == v) & ~exists(n, succ(v, n))) & forall(p, phase(p) != Phase.writing))

m.instance("two turns", turns=2, passes=1, versions=2)
m.instance("two passes", turns=1, passes=2, versions=2)
m.instance("medium", large=True, turns=2, passes=2, versions=3)

machine = m.build()
