"""Anchored release: the gate over what is held, and the order in which sources are copied, pointed at and released.

Two designs meet here. One lets a carrier leave the window or the index only if what it carries is anchored otherwise.
The other makes the pointer to a landed copy durable before a summary commits. Each counts on the other. What a span
says is anchored by a carrier that stays *or* by its original in the cold store behind a committed pointer: the gate
does not look into the store, it takes a pointer's word for it, which is good only if pointers are made in order. And
when nobody may ask for an original any more, the order lets it go although it may be the last thing that holds what
was said: that is for the gate to see. So the reaper of the index and the reaper of the store each look for what stays
elsewhere, claim, and remove later; neither may count on what the other has claimed, or can delete without asking.

Keys of the store are recycled and carry an epoch. Pointers are kept when their original is gone, so that one may lead
to a key that holds another span.

What this machine leaves out: what a span says is taken as one assertion; the window and the index are one place,
from which the gate lets any carrier go; there are no tombstones, and every span can be read (all of these:
`anchoring`). A copy never lands after the commit (`asynchronous-copy`), and the store loses nothing by itself.
"""

from anchorhold_spec.language import MachineBuilder, bound, exists, forall, realism, safety
from anchorhold_spec.machines._recycled_keys import RecycledKeys

m = MachineBuilder(
    "anchored-release",
    "A source is released, an entry evicted, an original reaped, only while what was said stays anchored elsewhere.",
)

Span = m.sort("span", symmetric=True, doc="A raw span, and what it says; its id is never used again.")
Summary = m.sort("summary", plural="summaries", symmetric=True, doc="A text that stands for spans.")
Key = m.sort("key", symmetric=True, doc="A place in the cold store, taken again once it is free.")
Epoch = m.ordered("epoch", doc="How often a key has been taken.")
Source = m.enum("source", "unsaid", "there", "gone", doc="Of a span: acknowledged and in place, or gone.")
Phase = m.enum("phase", "new", "open", "live", "gone", doc="Of a summary: live from its commit until it is evicted.")

gate = m.switch("gate", "on", "off", default="on", doc="Whether a reaper looks for what stays elsewhere.")
order = m.switch(
    "order",
    "ordered",
    "unordered",
    default="ordered",
    doc="Whether a copy has landed before a pointer to it is made.",
)
horizon = m.switch(
    "horizon",
    "respected",
    "ignored",
    default="respected",
    doc="Whether originals with a pointer are kept until then.",
)
epochs = m.switch(
    "epochs", "tagged", "untagged", default="tagged", doc="Whether resolving compares the pointer's epoch."
)

source = m.fun("source_of", Span, to=Source, initial=Source.unsaid)
phase = m.fun("phase_of", Summary, to=Phase, initial=Phase.new)
carries = m.rel("carries", Summary, Span, doc="The manifest has what the span says.")
covers = m.rel("covers", Summary, Span, doc="The originals under a summary, of whatever generation: one step away.")
made_from = m.rel("made_from", Summary, Summary, ghost=True, doc="The first one stands for the second one, too.")
slot = m.pfun("slot", Key, to=Span, doc="Whose original the key holds.")
epoch = m.fun("epoch_of", Key, to=Epoch, initial=Epoch.zero, doc="Never set back.")
copy_key = m.pfun("copy_key", Span, to=Key, doc="Where the compactor puts the copy; in memory only.")
copy_epoch = m.pfun("copy_epoch", Span, to=Epoch)
ptr_key = m.pfun("pointer_key", Span, to=Key, doc="The pointer table: durable.")
ptr_epoch = m.pfun("pointer_epoch", Span, to=Epoch)
over = m.rel("horizon_over", Span, doc="Nobody may ask for the original any more.")
releasing = m.rel("releasing", Span, doc="A reaper is about to remove the source; in memory only.")
evicting = m.rel("evicting", Summary, doc="A reaper is about to remove the summary; in memory only.")
marked = m.rel("marked", Key, doc="The store's reaper is about to delete what it holds; in memory only.")
keys = RecycledKeys(
    slot=slot,
    epoch=epoch,
    copy_key=copy_key,
    copy_epoch=copy_epoch,
    ptr_key=ptr_key,
    ptr_epoch=ptr_epoch,
    marked=marked,
)
misled = m.rel("misled", Span, ghost=True, doc="Following the pointer to its original has led to another span.")

agent = m.worker("agent", writes=[source])
compactor = m.worker(
    "compactor", writes=[phase, carries, covers, made_from, slot, epoch, copy_key, copy_epoch, ptr_key, ptr_epoch]
)
reaper = m.worker("reaper", writes=[source, phase, releasing, evicting], doc="Removes sources and summaries.")
store_reaper = m.worker("store reaper", writes=[slot, marked], doc="Deletes from the cold store.")
reader = m.worker("reader", writes=[misled])

s, t = Span("s"), Span("t")
n, o, other = Summary("m"), Summary("o"), Summary("other")
k, e, f = Key("k"), Epoch("e"), Epoch("f")

under_a_commit = exists(other, phase(other).one_of(Phase.live, Phase.gone) & covers(other, s))
to_be_asked_for = ptr_key(s).defined & under_a_commit & ~over(s)
source_stays = (source(s) == Source.there) & ~releasing(s)
summary_stays = exists(other, (phase(other) == Phase.live) & ~evicting(other) & carries(other, s))

m.action(
    "append",
    s,
    by=agent,
    event="append",
    doc="A span is acknowledged.",
    guards=[bound("new", source(s) == Source.unsaid, "a span enters once; again would hold more, not less")],
    updates=[source(s).becomes(Source.there)],
)
m.action(
    "begin copy",
    s,
    k,
    e,
    f,
    by=compactor,
    doc="A free key is taken for the original, and its epoch grows; the copy itself is on its way.",
    guards=[
        realism("source there", source(s) == Source.there, "what is not there cannot be copied"),
        bound("no pointer yet", ~ptr_key(s).defined, "one copy is enough"),
        bound("no copy yet", ~copy_key(s).defined, "a second copy in one attempt is only an orphan more"),
        *keys.taken(k, e, f),
    ],
    updates=[epoch(k).becomes(f), copy_key(s).becomes(k), copy_epoch(s).becomes(f)],
)
m.action(
    "land",
    s,
    k,
    e,
    by=compactor,
    event="copy",
    doc="The copy lands, if nobody has taken the key meanwhile.",
    guards=[
        safety("on its way there", copy_key(s) == k),
        safety("at its epoch", copy_epoch(s) == e),
        safety("still that epoch", epoch(k) == e),
    ],
    updates=[slot(k).becomes(s)],
)
m.action(
    "point",
    s,
    k,
    e,
    by=compactor,
    event="point",
    doc="The pointer to the copy is made durable.",
    guards=[
        *keys.copied_to(s, k, e),
        safety("landed", (order == "unordered") | (slot(k) == s)),
    ],
    updates=[
        ptr_key(s).becomes(k),
        ptr_epoch(s).becomes(e),
        copy_key(s).cleared(),
        copy_epoch(s).cleared(),
    ],
)
m.action(
    "take a span",
    n,
    s,
    by=compactor,
    event="stage",
    doc="An open summary is to stand for a span that is there.",
    guards=[
        safety("not committed", phase(n).one_of(Phase.new, Phase.open)),
        realism("there", source(s) == Source.there, "what is not there cannot be shown to a summariser"),
    ],
    updates=[phase(n).becomes(Phase.open), covers(n, s).becomes(True)],
)
m.action(
    "take a summary",
    n,
    o,
    by=compactor,
    event="stage",
    doc="An open summary is to stand for a live one; what that covers is covered directly.",
    guards=[
        safety("not committed", phase(n).one_of(Phase.new, Phase.open)),
        safety("live", phase(o) == Phase.live),
    ],
    updates=[
        phase(n).becomes(Phase.open),
        covers(n, s).becomes(covers(n, s) | covers(o, s), each=s),
        made_from(n, o).becomes(True),
    ],
)
m.action(
    "carry",
    n,
    s,
    by=compactor,
    doc="The open summary repeats what a span under it says. That it may never happen is the summariser's freedom.",
    guards=[
        realism("open", phase(n) == Phase.open, "what is committed is not rewritten"),
        realism("under it", covers(n, s), "an entry is taken over only where text and source bear it out"),
    ],
    updates=[carries(n, s).becomes(True)],
)
m.action(
    "commit",
    n,
    by=compactor,
    event="commit",
    doc="The summary takes effect.",
    guards=[
        realism("open", phase(n) == Phase.open, "what was not begun has nothing to commit"),
        safety("every original has a pointer", forall(s, covers(n, s) >> ptr_key(s).defined)),
    ],
    updates=[phase(n).becomes(Phase.live)],
)
m.action(
    "propose a source",
    s,
    by=reaper,
    event="propose",
    doc="Some policy has nominated a source; what it says is anchored otherwise.",
    guards=[
        realism("there", source(s) == Source.there, "what is not there cannot be removed"),
        bound("once", ~releasing(s), "nominating again changes nothing"),
        safety("anchored otherwise", (gate == "off") | summary_stays | to_be_asked_for),
    ],
    updates=[releasing(s).becomes(True)],
)
m.action(
    "release",
    s,
    by=reaper,
    event="release",
    doc="The source goes, whatever has happened since.",
    guards=[safety("nominated", releasing(s))],
    updates=[source(s).becomes(Source.gone), releasing(s).becomes(False)],
)
m.action(
    "propose a summary",
    n,
    by=reaper,
    event="propose",
    doc="Some policy has nominated a summary; all that it carries is anchored otherwise.",
    guards=[
        safety("live", phase(n) == Phase.live),
        bound("once", ~evicting(n), "nominating again changes nothing"),
        safety(
            "anchored otherwise",
            (gate == "off")
            | forall(
                s,
                source_stays
                | exists(o, (o != n) & (phase(o) == Phase.live) & ~evicting(o) & carries(o, s))
                | to_be_asked_for
                | ~carries(n, s),
            ),
        ),
    ],
    updates=[evicting(n).becomes(True)],
)
m.action(
    "evict",
    n,
    by=reaper,
    event="evict",
    doc="The summary goes, whatever has happened since.",
    guards=[safety("nominated", evicting(n))],
    updates=[phase(n).becomes(Phase.gone), evicting(n).becomes(False)],
)
m.action(
    "mark",
    k,
    by=store_reaper,
    event="propose",
    doc="The store's reaper finds an original that nobody needs.",
    guards=[
        safety("occupied", slot(k).defined),
        bound("once", ~marked(k), "marking again changes nothing"),
        safety("no copy on its way", forall(s, ~(copy_key(s) == k))),
        safety("no pointer before the horizon", (horizon == "ignored") | forall(s, (ptr_key(s) == k) >> over(s))),
        safety("carried elsewhere", (gate == "off") | forall(s, source_stays | summary_stays | ~(slot(k) == s))),
    ],
    updates=[marked(k).becomes(True)],
)
m.action(
    "reap",
    k,
    by=store_reaper,
    event="reap",
    doc="The original is deleted, whatever has happened since; its key is free again.",
    guards=[safety("marked", marked(k))],
    updates=[slot(k).cleared(), marked(k).becomes(False)],
)
m.action(
    "resolve",
    s,
    k,
    e,
    t,
    by=reader,
    event="resolve",
    doc="The pointer to an original is followed, and something is found there.",
    guards=[
        realism("committed", under_a_commit, "what is not committed resolves to nothing"),
        *keys.led_to(s, k, e, t, compared=(epochs == "untagged") | (epoch(k) == e)),
    ],
    updates=[misled(s).becomes(True, when=s != t)],
)
m.action(
    "horizon ends",
    s,
    event="expire",
    fault=True,
    doc="The time is over in which the original may be asked for.",
    guards=[
        realism("committed", under_a_commit, "a horizon is that of a summary's original"),
        bound("once", ~over(s), "it ends once"),
    ],
    updates=[over(s).becomes(True)],
)
m.action(
    "crash",
    event="crash",
    fault=True,
    doc="What was only in memory is gone: open summaries, copies on their way, what reapers were about to do.",
    updates=[
        phase(n).becomes(Phase.new, when=phase(n) == Phase.open, each=n),
        covers(n, s).becomes(False, when=phase(n) == Phase.open, each=(n, s)),
        carries(n, s).becomes(False, when=phase(n) == Phase.open, each=(n, s)),
        made_from(n, o).becomes(False, when=phase(n) == Phase.open, each=(n, o)),
        copy_key(s).cleared(each=s),
        copy_epoch(s).cleared(each=s),
        releasing(s).becomes(False, each=s),
        evicting(n).becomes(False, each=n),
        marked(k).becomes(False, each=k),
    ],
)

# What the rules say.

resolvable = keys.resolvable(s, k, e)
carried = exists(n, (phase(n) == Phase.live) & carries(n, s))
committed = phase(n).one_of(Phase.live, Phase.gone)

m.invariant(
    "anchored",
    forall(
        s,
        (source(s) != Source.unsaid) >> ((source(s) == Source.there) | carried | (resolvable & under_a_commit)),
    ),
    rules=["ANC-1"],
    doc="By the span itself, by a live summary, or by the original behind a committed pointer that resolves.",
)
m.transition(
    "resolvable at commit",
    forall(n, s, (~committed & (phase(n).next == Phase.live) & covers(n, s)) >> (resolvable | over(s))),
    rules=["PTR-1"],
    doc="At the moment a summary commits, the pointer of every span under it is durable and leads to that span.",
)
m.invariant(
    "resolvable to the horizon",
    forall(n, s, (committed & covers(n, s) & ~over(s)) >> resolvable),
    rules=["PTR-2"],
    doc="No step of any worker makes a committed pointer unresolvable.",
)
m.invariant(
    "one step away",
    forall(n, o, s, (made_from(n, o) & covers(o, s)) >> covers(n, s)),
    rules=["PTR-4"],
    doc="A summary of summaries leads to every original under them itself.",
)
m.invariant(
    "never another span",
    forall(s, ~misled(s)),
    rules=["EPO-1"],
    doc="Whatever a pointer led to was its own original.",
)

# What the proofs need besides.

m.auxiliary(
    "anchored by what stays, or by the store",
    forall(
        s,
        (source(s) != Source.unsaid)
        >> (source_stays | summary_stays | (under_a_commit & exists(k, e, keys.resolves(s, k, e) & ~marked(k)))),
    ),
)
m.auxiliary(
    "what is pointed at is there to the horizon",
    forall(s, (ptr_key(s).defined & ~over(s)) >> resolvable),
)
m.auxiliary(
    "what is made from was committed", forall(n, o, made_from(n, o) >> phase(o).one_of(Phase.live, Phase.gone))
)
m.auxiliary("only a live summary is about to go", forall(n, evicting(n) >> (phase(n) == Phase.live)))
m.auxiliary("only what was said is about to go", forall(s, releasing(s) >> (source(s) != Source.unsaid)))
m.auxiliary(
    "only what was said is in a summary", forall(n, s, (covers(n, s) | carries(n, s)) >> (source(s) != Source.unsaid))
)
keys.lemmas(m, s, t, k, e)
keys.lemmas_of_copies_under_way(m, s, t, k, e)
m.auxiliary("a marked key is needed by nobody", forall(s, k, (marked(k) & (ptr_key(s) == k)) >> over(s)))

m.sometimes(
    "anchored by the original alone",
    exists(s, (source(s) == Source.gone) & ~carried),
    doc="Without this the store would be for show.",
)
m.sometimes(
    "anchored by a summary alone",
    exists(s, (source(s) == Source.gone) & ~resolvable),
    doc="Without this the gate would be for show.",
)
m.sometimes(
    "a pointer leads to a recycled key",
    exists(s, t, k, over(s) & (ptr_key(s) == k) & (slot(k) == t) & (s != t)),
    doc="Without this no answer could ever be wrong.",
)

m.may_rest(forall(n, committed))
m.instance("generations", spans=1, summaries=2, keys=1, epochs=1)
m.instance("recycled key", spans=2, summaries=1, keys=1, epochs=2)
m.instance("two keys", spans=2, summaries=1, keys=2, epochs=1)
m.instance("two keys taken twice", spans=1, summaries=1, keys=2, epochs=2)

machine = m.build()
