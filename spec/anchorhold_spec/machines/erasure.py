"""Erasure: a forget removes a content from everywhere, and nothing that was under way brings it back.

The forget is recorded first, durably. Then one place after another is swept: window, index, cold store, summaries
(text, manifest and pointers in one write) and logs; which have been swept is known in memory only, so that after a
crash all are swept again. When all are done the content is marked erased, and that mark is all that remains. A
compaction that was under way when the forget was recorded cannot commit what it has read; it has to begin again.

What this machine leaves out: key, epoch and time of what was erased (here: which turn it was), what a summariser
makes of a content without saying it (a paraphrase cannot be found by looking; the summary is written anew without its
source), and drafts in memory, which end with their compaction. A turn here is one content with one fact.
"""

from anchorhold_spec.language import MachineBuilder, bound, exists, forall, realism, safety

m = MachineBuilder(
    "erasure",
    "A forget is recorded, every place is swept, and what was forgotten is marked erased; all else stays anchored.",
)

Turn = m.sort("turn", symmetric=True, doc="A content: what may have to be forgotten.")
Summary = m.sort("summary", plural="summaries", symmetric=True)
State = m.enum("state", "unseen", "present", "forgetting", "erased", doc="Of a content.")
Place = m.enum("place", "window", "index", "cold", "summaries", "log", doc="Where content lies.")
Phase = m.enum("phase", "open", "committed", doc="Whether a summary is being written or in effect.")

scope = m.switch("scope", "everywhere", "window-only", default="everywhere", doc="Which places a forget goes to.")
summaries = m.switch(
    "summaries", "rewritten", "kept", default="rewritten", doc="What becomes of summaries that say what is forgotten."
)
remains = m.switch("remains", "mark", "digest", default="mark", doc="What is kept of an erased content.")
record = m.switch("record", "first", "last", default="first", doc="When a forget is durable.")

state = m.fun("state_of", Turn, to=State, initial=State.unseen, doc="Durable; of a forgetting one see `record`.")
holds = m.rel("holds", Place, Turn, doc="The original lies there. Durable.")
phase = m.fun("phase_of", Summary, to=Phase, initial=Phase.open)
says = m.rel("says", Summary, Turn, doc="Verbatim in the summary's text.")
lists = m.rel("lists", Summary, Turn, doc="In the summary's manifest.")
points = m.rel("points", Summary, Turn, doc="The summary stands for it, and has a pointer to the original.")
swept = m.rel("swept", Place, Turn, doc="The eraser has been there for it; in memory only.")
digest = m.rel("digest", Turn, doc="A digest of the content is kept.")

agent = m.worker("agent", writes=[state, holds])
compactor = m.worker("compactor", writes=[phase, holds, says, lists, points])
eraser = m.worker("eraser", writes=[state, holds, says, lists, points, swept, digest])

t, u, x, a = Turn("t"), Turn("u"), Summary("x"), Place("a")

committed = phase(x) == Phase.committed

m.action(
    "append",
    t,
    by=agent,
    event="append",
    doc="A content enters the window and the log.",
    guards=[safety("new", state(t) == State.unseen)],
    updates=[
        state(t).becomes(State.present),
        holds(Place.window, t).becomes(True),
        holds(Place.log, t).becomes(True),
    ],
)
m.action(
    "draft",
    x,
    t,
    by=compactor,
    doc="A summary that is being written is to stand for a content.",
    guards=[
        safety("open", ~committed),
        realism("in the window", holds(Place.window, t), "only what is in the window is summarised"),
    ],
    updates=[points(x, t).becomes(True)],
)
m.action(
    "carry",
    x,
    t,
    by=compactor,
    event="stage",
    doc="The summary says it verbatim, and lists it. (The summariser may drop whatever it likes.)",
    guards=[
        realism("open", ~committed, "a summary in effect is not added to"),
        safety("drafted", points(x, t)),
    ],
    updates=[says(x, t).becomes(True), lists(x, t).becomes(True)],
)
m.action(
    "commit",
    x,
    by=compactor,
    event="commit",
    doc="The summary takes the place of what it stands for; the originals are in the cold store and the index.",
    guards=[
        bound("open", ~committed, "committing again changes nothing"),
        safety("nothing of it is being forgotten", forall(t, points(x, t) >> (state(t) == State.present))),
    ],
    updates=[
        phase(x).becomes(Phase.committed),
        holds(Place.window, t).becomes(False, when=points(x, t), each=t),
        holds(Place.index, t).becomes(True, when=points(x, t), each=t),
        holds(Place.cold, t).becomes(True, when=points(x, t), each=t),
    ],
)
m.action(
    "abandon",
    x,
    by=compactor,
    event="refuse",
    doc="A summary that has not committed is given up, with all that was drafted for it.",
    guards=[
        safety("open", ~committed),
        bound("of something", exists(t, points(x, t)), "giving up nothing changes nothing"),
    ],
    updates=[
        points(x, t).becomes(False, each=t),
        says(x, t).becomes(False, each=t),
        lists(x, t).becomes(False, each=t),
    ],
)
m.action(
    "forget",
    t,
    by=eraser,
    event="forget",
    doc="A caller demands that a content be forgotten, and that is recorded.",
    guards=[
        safety("present", state(t) == State.present),
        bound("one at a time", forall(u, state(u) != State.forgetting), "two forgets have nothing in common"),
    ],
    updates=[state(t).becomes(State.forgetting)],
)
m.action(
    "sweep",
    t,
    a,
    by=eraser,
    event="reap",
    doc="One place is swept: nothing that holds the content is left in it.",
    guards=[
        safety("forgetting", state(t) == State.forgetting),
        bound("not yet", ~swept(a, t), "sweeping again changes nothing"),
    ],
    updates=[
        holds(a, t).becomes(False),
        says(x, t).becomes(False, when=(a == Place.summaries) & committed & (summaries == "rewritten"), each=x),
        lists(x, t).becomes(False, when=(a == Place.summaries) & committed, each=x),
        points(x, t).becomes(False, when=(a == Place.summaries) & committed, each=x),
        swept(a, t).becomes(True),
    ],
)
m.action(
    "finish",
    t,
    by=eraser,
    event="forget",
    doc="Every place has been swept: the content is erased.",
    guards=[
        safety(
            "every place swept",
            forall(a, swept(a, t) | ((scope == "window-only") & ~(a == Place.window))),
        ),
    ],
    updates=[
        state(t).becomes(State.erased),
        swept(a, t).becomes(False, each=a),
        digest(t).becomes(True, when=remains == "digest"),
    ],
)
m.action(
    "crash",
    event="crash",
    fault=True,
    doc="Drafts are gone, and what has been swept is not known any more.",
    updates=[
        state(t).becomes(State.present, when=(state(t) == State.forgetting) & (record == "last"), each=t),
        points(x, t).becomes(False, when=~committed, each=(x, t)),
        says(x, t).becomes(False, when=~committed, each=(x, t)),
        lists(x, t).becomes(False, when=~committed, each=(x, t)),
        swept(a, t).becomes(False, each=(a, t)),
    ],
)

# What the rules say.

m.invariant(
    "erased is nowhere",
    forall(
        t,
        (state(t) == State.erased) >> (forall(a, ~holds(a, t)) & ~digest(t)),
    )
    & forall(t, x, ((state(t) == State.erased) & committed) >> (~says(x, t) & ~lists(x, t) & ~points(x, t))),
    rules=["ERA-1"],
    doc="Not in window, index, cold store or logs; not in a summary's text, manifest or pointers; not as a digest.",
)
m.transition(
    "a forget is not taken back",
    forall(t, (state(t) == State.forgetting) >> state(t).next.one_of(State.forgetting, State.erased))
    & forall(t, (state(t) == State.erased) >> (state(t).next == State.erased)),
    rules=["ERA-1"],
    doc="Neither a crash in the middle nor a compaction that was under way undoes it.",
)
m.invariant(
    "all else stays anchored",
    forall(
        t,
        (state(t) == State.present)
        >> (holds(Place.window, t) | (holds(Place.cold, t) & exists(x, committed & points(x, t)))),
    ),
    rules=["ERA-1", "ANC-1"],
    doc="What nobody wants forgotten is in the window, or a committed summary leads to its original.",
)
m.invariant(
    "no erased pointer counts as unresolvable",
    forall(t, x, (committed & points(x, t)) >> (holds(Place.cold, t) | (state(t) == State.forgetting))),
    rules=["ERA-1", "PTR-2"],
    doc="A committed summary's pointer leads to an original, or to what is being forgotten.",
)
m.can_end(
    "a forget ends",
    trigger=exists(t, state(t) == State.forgetting),
    goal=forall(t, state(t) != State.forgetting),
    rules=["ERA-1", "PRO-3"],
    doc="From anywhere, also after a crash in the middle of it.",
)

# What the proofs need besides.

m.auxiliary(
    "what is swept stays clean",
    forall(t, a, ((state(t) == State.forgetting) & swept(a, t)) >> ~holds(a, t)),
)
m.auxiliary(
    "swept summaries stay clean",
    forall(
        t,
        x,
        ((state(t) == State.forgetting) & swept(Place.summaries, t) & committed)
        >> (~says(x, t) & ~lists(x, t) & ~points(x, t)),
    ),
)
m.auxiliary("no digest is kept", forall(t, ~digest(t)))
m.auxiliary("a summary speaks of what it stands for", forall(x, t, (says(x, t) | lists(x, t)) >> points(x, t)))
m.auxiliary("only what is being forgotten is swept", forall(t, a, swept(a, t) >> (state(t) == State.forgetting)))

m.sometimes(
    "a content is forgotten while a summary of it is being written",
    exists(t, x, ~committed & points(x, t) & (state(t) == State.erased)),
)
m.may_rest(forall(t, state(t).one_of(State.present, State.erased)))

m.instance("small", turns=1, summaries=1)
m.instance("two turns", large=True, turns=2, summaries=1)

machine = m.build()
