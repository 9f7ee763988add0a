"""Anchoring: whatever was said stays held by something that stays, or its loss was decided and is on record.

Raw spans and summaries are carriers; what a carrier is known to hold is its manifest, a set of assertions (a fact as
said by one span). Carriers are in the live window, in the retrieval index, or in both. A compaction is written step
by step by a summariser that may leave out anything; it takes effect in one commit, at which what it replaces leaves
the window. Retention policies may nominate any entry of the index at any time. A reaper looks whether the entry may
go, and claims it; it removes the entry later, whatever has happened since. Any number of claims can be open: they
are any number of reapers.

A summary may replace summaries. Generations need no numbers: only what is in the window can be replaced, and a
summary gets there by its commit.

What this machine leaves out: the cold store and pointers, which are the other kind of anchor (`anchored-release`);
the wording of manifests, so that every entry is taken to be true (MAN-2); which facts a refusal names (ANC-2).
"""

from anchorhold_spec.language import MachineBuilder, bound, exists, forall, realism, safety, unchanged

m = MachineBuilder(
    "anchoring",
    "Spans and summaries carry assertions; what alone carries one leaves the window or the index only past the gate.",
)

Carrier = m.sort("carrier", symmetric=True, doc="What holds facts.")
Raw = m.part("raw", Carrier, doc="A contiguous run of raw turns; its id is never used again.")
Summary = m.part("summary", Carrier, plural="summaries", doc="A text that replaces carriers.")
Assertion = m.sort("assertion", symmetric=True, doc="A fact together with the raw span that asserts it.")
Fact = m.sort("fact", doc="What was said, whoever said it, and however often.")
Phase = m.enum(
    "phase", "new", "open", "known", doc="A raw span is known once acknowledged, a summary once committed."
)

gate = m.switch("gate", "on", "off", default="on", doc="Whether a commit accounts for what it replaces.")
retention = m.switch(
    "retention",
    "coupled",
    "independent",
    default="coupled",
    doc="Whether an entry's removal from the index depends on what it alone carries, or on the policy alone.",
)
reaper = m.switch(
    "reaper", "claims", "only-checks", default="claims", doc="Whether others can see what a reaper has let pass."
)
anchors = m.switch(
    "anchors", "that-stay", "that-ever-were", default="that-stay", doc="Which carriers the gate counts as anchors."
)
tombstones = m.switch(
    "tombstones", "per-assertion", "per-fact", default="per-assertion", doc="What one of them covers."
)
authority = m.switch(
    "authority", "explicit", "automatic", default="explicit", doc="Whether what a summariser left out may be buried."
)
generations = m.switch("generations", "many", "one", default="many", doc="Whether a summary may be summarised.")
registration = m.switch(
    "registration", "at-commit", "at-start", default="at-commit", doc="When a summary enters the live window."
)
reconstitution = m.switch(
    "reconstitution",
    "anchored",
    "unanchored",
    default="anchored",
    doc="Whether it answers only with what carries the assertion, or, where nothing does, with what there is.",
)

phase = m.fun("phase_of", Carrier, to=Phase, initial=Phase.new)
window = m.rel("in_window", Carrier, doc="The live window: what the model sees.")
index = m.rel("in_index", Carrier, doc="The retrieval index.")
claimed = m.rel("claimed", Carrier, doc="A reaper has let its entry pass and is about to remove it; in memory only.")
asserter = m.pfun("asserted_by", Assertion, to=Raw, doc="Who said it.")
fact = m.rigid_fun("fact_of", Assertion, to=Fact, doc="What was said.")
read = m.rel("read", Raw, doc="The span's manifest was computed. Of some spans it cannot be, and never is.")
carries = m.rel("carries", Carrier, Assertion, doc="The carrier's manifest.")
shown = m.rel("shown", Summary, Carrier, doc="What the open summary is made from, and will replace.")
decided = m.rel("decided", Assertion, doc="A caller, or a policy set up to do so, named it and a reason to drop it.")
tombstoned = m.rel("tombstoned", Assertion, doc="Its loss is on record: it reads as unknown, never as absent.")
superseder = m.pfun("superseded_by", Assertion, to=Assertion, doc="What the tombstone says holds instead.")
diverged = m.rel("diverged", Assertion, ghost=True, doc="Asking for it has returned what does not carry it.")

agent = m.worker("agent", writes=[phase, window, asserter], doc="Says things.")
compactor = m.worker("compactor", writes=[phase, window, index, read, carries, shown, tombstoned, superseder])
sweeper = m.worker("reaper", writes=[index, claimed], doc="Removes entries of the index.")
caller = m.worker("caller", writes=[decided], doc="May decide that something is dropped.")
reader = m.worker("reader", writes=[diverged])

s, n = Raw("s"), Summary("m")
c, d = Carrier("c"), Carrier("d")
a, b, other = Assertion("a"), Assertion("b"), Assertion("other")

# What the gate counts.

buried = tombstoned(a) | ((tombstones == "per-fact") & exists(b, tombstoned(b) & (fact(b) == fact(a))))
stays_in_index = index(d) & ((reaper == "only-checks") | ~claimed(d))
once_was = (anchors == "that-ever-were") & (phase(d) == Phase.known)
left_out = exists(n, c, shown(n, c) & carries(c, a) & ~carries(n, a))

m.action(
    "say",
    s,
    a,
    by=agent,
    doc="A span that is being written asserts something.",
    guards=[
        safety("not yet acknowledged", phase(s) == Phase.new),
        safety("said by nobody", ~asserter(a).defined),
    ],
    updates=[asserter(a).becomes(s)],
)
m.action(
    "append",
    s,
    by=agent,
    event="append",
    doc="The span enters the window and is acknowledged.",
    guards=[
        bound("new", phase(s) == Phase.new, "a span that is known enters only once; again would hold more, not less")
    ],
    updates=[phase(s).becomes(Phase.known), window(s).becomes(True)],
)
m.action(
    "read",
    s,
    by=compactor,
    doc="The manifest of a span is computed.",
    guards=[
        safety("acknowledged", phase(s) == Phase.known),
        bound("once", ~read(s), "what a span asserts does not change"),
    ],
    updates=[read(s).becomes(True), carries(s, a).becomes(True, when=asserter(a) == s, each=a)],
)
m.action(
    "index",
    c,
    by=compactor,
    doc="A carrier gets an entry in the retrieval index.",
    guards=[
        safety("live", window(c)),
        bound("once", ~index(c), "a second entry would be the same"),
    ],
    updates=[index(c).becomes(True)],
)
m.action(
    "open",
    n,
    by=compactor,
    event="stage",
    doc="A summary is begun.",
    guards=[safety("new", phase(n) == Phase.new)],
    updates=[
        phase(n).becomes(Phase.open),
        window(n).becomes(True, when=registration == "at-start"),
    ],
)
m.action(
    "show",
    n,
    c,
    by=compactor,
    doc="The summariser is shown a carrier, which the summary will replace.",
    guards=[
        safety("being written", phase(n) == Phase.open),
        realism("live", window(c), "what is not in the window cannot leave it"),
        safety("has a manifest", Summary.has(c) | exists(s, (s == c) & read(s))),
        bound("generation", (generations == "many") | Raw.has(c), "of itself this machine has any number of them"),
    ],
    updates=[shown(n, c).becomes(True)],
)
m.action(
    "carry",
    n,
    c,
    a,
    by=compactor,
    doc="The summary repeats an assertion of what it is made from; what it leaves out is up to the summariser.",
    guards=[
        safety("shown", shown(n, c)),
        realism(
            "in its manifest", carries(c, a), "an entry is taken over only where text and source bear it out: MAN-2"
        ),
    ],
    updates=[carries(n, a).becomes(True)],
)
m.action(
    "commit",
    n,
    by=compactor,
    event="commit",
    doc="The summary takes effect, and what it replaces leaves the window: one step, whole or not at all.",
    guards=[
        realism("being written", phase(n) == Phase.open, "what was not begun has nothing to commit"),
        safety(
            "everything accounted for",
            (gate == "off")
            | forall(
                a,
                buried
                | carries(n, a)
                | exists(d, carries(d, a) & (((window(d) | once_was) & ~shown(n, d)) | stays_in_index))
                | forall(c, ~(shown(n, c) & carries(c, a))),
            ),
        ),
    ],
    updates=[
        phase(n).becomes(Phase.known),
        window(c).becomes((c == n) | (window(c) & ~shown(n, c)), each=c),
        shown(n, c).becomes(False, each=c),
    ],
)
m.action(
    "refuse",
    n,
    by=compactor,
    event="refuse",
    doc="The compaction is given up, for whatever reason.",
    guards=[safety("being written", phase(n) == Phase.open)],
    updates=[
        phase(n).becomes(Phase.new),
        shown(n, c).becomes(False, each=c),
        carries(n, a).becomes(False, each=a),
    ],
)
m.action(
    "claim",
    c,
    by=sweeper,
    event="propose",
    doc="A policy has nominated an entry of the index, for whatever reason; a reaper lets it pass and claims it.",
    guards=[
        bound("in the index", index(c), "what is not there is not removed"),
        bound("once", ~claimed(c), "claiming again changes nothing"),
        safety(
            "carried elsewhere",
            (retention == "independent")
            | forall(
                a,
                buried
                | exists(d, carries(d, a) & (window(d) | ((stays_in_index | once_was) & (d != c))))
                | ~carries(c, a),
            ),
        ),
    ],
    updates=[claimed(c).becomes(True)],
)
m.action(
    "reap",
    c,
    by=sweeper,
    event="evict",
    doc="A reaper removes the entry that it has claimed, whatever has happened since.",
    guards=[safety("claimed", claimed(c))],
    updates=[index(c).becomes(False), claimed(c).becomes(False)],
)
m.action(
    "decide",
    a,
    by=caller,
    doc="Somebody who may do so names an assertion, and a reason to drop it.",
    guards=[
        realism("said", asserter(a).defined, "a decision names an assertion that there is"),
        bound("once", ~decided(a), "deciding again changes nothing"),
    ],
    updates=[decided(a).becomes(True)],
)

decision = decided(a) | ((authority == "automatic") & left_out)
m.action(
    "bury",
    a,
    by=compactor,
    event="tombstone",
    doc="The loss of an assertion is put on record.",
    guards=[
        safety("decided", decision),
        safety("no tombstone refers to it", forall(other, ~(superseder(other) == a))),
        bound("once", ~tombstoned(a), "a second tombstone says the same"),
    ],
    updates=[tombstoned(a).becomes(True)],
)
m.action(
    "supersede",
    a,
    b,
    s,
    by=compactor,
    event="tombstone",
    doc="The loss of an assertion is put on record, with the one that holds instead of it and of what it superseded.",
    guards=[
        safety("decided", decision),
        bound("once", ~tombstoned(a), "a second tombstone says the same"),
        safety("by another", a != b),
        safety("that was said", asserter(b) == s),
        safety("and acknowledged", phase(s) == Phase.known),
        safety("and not dropped", ~tombstoned(b)),
    ],
    updates=[
        tombstoned(a).becomes(True),
        superseder(other).becomes(b, when=(other == a) | (superseder(other) == a), each=other),
    ],
)

retained_raw = window(s) & ~read(s)
held = exists(d, carries(d, a) & (window(d) | index(d)))

m.action(
    "reconstitute",
    a,
    s,
    c,
    by=reader,
    event="reconstitute",
    doc="An assertion that was not dropped is asked for, and a carrier is returned.",
    guards=[
        realism("said", asserter(a) == s, "asking for what was never said: see the machine reconstitution"),
        realism("acknowledged", phase(s) == Phase.known, "nobody asks for what was not yet said"),
        realism("not dropped", ~tombstoned(a), "a tombstone is an answer of its own: see the machine reconstitution"),
        realism("there", window(c) | index(c), "what is gone cannot be returned"),
        safety("carries it", carries(c, a) | ((reconstitution == "unanchored") & ~held & ~retained_raw)),
    ],
    updates=[diverged(a).becomes(True, when=~carries(c, a))],
)
m.action(
    "crash",
    event="crash",
    fault=True,
    doc="Summaries that are not committed are lost, and what reapers were about to do.",
    updates=[
        phase(n).becomes(Phase.new, when=phase(n) == Phase.open, each=n),
        shown(n, c).becomes(False, each=(n, c)),
        carries(n, a).becomes(False, when=phase(n) == Phase.open, each=(n, a)),
        claimed(c).becomes(False, each=c),
    ],
)

# What the rules say.

said = (asserter(a) == s) & (phase(s) == Phase.known)

m.invariant(
    "anchored or tombstoned",
    forall(a, s, said >> (tombstoned(a) | held | retained_raw)),
    rules=["ANC-1", "ANC-3", "ANC-4"],
    doc="Under every interleaving of any number of reapers and compactions, through any number of generations.",
)
m.transition(
    "nothing leaves but through the gate",
    forall(c, (index(c) & ~index(c).next) >> claimed(c)),
    rules=["ANC-2"],
    doc="A nomination alone removes nothing from the index.",
)
m.invariant(
    "what is not committed left no trace",
    forall(n, c, (phase(n) == Phase.new) >> (~shown(n, c)))
    & forall(n, a, (phase(n) == Phase.new) >> ~carries(n, a))
    & forall(n, (phase(n) != Phase.known) >> (~window(n) & ~index(n))),
    rules=["ANC-5"],
    doc="An open summary is registered nowhere; a refused or interrupted one is as if it had never been begun.",
)
m.transition(
    "a refusal changes nothing else",
    unchanged(window) & unchanged(index) & unchanged(tombstoned),
    rules=["ANC-5"],
    on=["refuse"],
    doc="No eviction, no tombstone.",
)
m.transition(
    "a commit accounts for everything",
    forall(
        n,
        c,
        a,
        ((phase(n) == Phase.open) & (phase(n).next == Phase.known) & shown(n, c) & carries(c, a))
        >> (
            carries(n, a).next | tombstoned(a).next | exists(d, carries(d, a).next & (window(d).next | index(d).next))
        ),
    ),
    rules=["MAN-1"],
    doc="Each assertion of each carrier that it replaces is in its manifest, anchored otherwise, or tombstoned.",
)
m.invariant(
    "without a manifest retained raw",
    forall(s, ((phase(s) == Phase.known) & ~read(s)) >> window(s)),
    rules=["MAN-3"],
    doc="A span whose manifest was not computed is in the live window.",
)
m.invariant(
    "a tombstone covers one assertion",
    forall(
        a,
        s,
        b,
        (said & tombstoned(b) & (fact(a) == fact(b)) & ~tombstoned(a)) >> (held | retained_raw),
    ),
    rules=["MAN-4"],
    doc="The same fact said again has to be anchored, whatever became of what was said before.",
)
m.invariant(
    "a superseder is anchored",
    forall(
        b,
        a,
        (superseder(b) == a) >> (held | exists(s, (asserter(a) == s) & retained_raw)),
    ),
    rules=["MAN-4"],
    doc="A tombstone that says what holds instead can be believed.",
)
m.invariant(
    "dropped by decision",
    forall(a, tombstoned(a) >> decided(a)),
    rules=["MAN-6"],
    doc="What a summariser left out was never tombstoned for that.",
)
m.invariant(
    "never silently diverged",
    forall(a, ~diverged(a)),
    rules=["REC-1"],
    doc="Whoever asked for an assertion was never given what does not carry it.",
)

# What the proofs need besides.

m.auxiliary(
    "held by what stays",
    forall(
        a,
        s,
        said >> (tombstoned(a) | retained_raw | exists(d, carries(d, a) & (window(d) | (index(d) & ~claimed(d))))),
    ),
)
m.auxiliary("what is replaced was read", forall(s, n, shown(n, s) >> read(s)))
m.auxiliary("what is read was acknowledged", forall(s, read(s) >> (phase(s) == Phase.known)))
m.auxiliary("a superseder was not dropped", forall(a, b, (superseder(b) == a) >> ~tombstoned(a)))
m.auxiliary(
    "a superseder was acknowledged",
    forall(b, a, (superseder(b) == a) >> exists(s, said)),
)

m.sometimes("two reapers at once", exists(c, d, (c != d) & claimed(c) & claimed(d)))
m.sometimes(
    "held by a later summary alone",
    exists(
        a, n, s, said & ~window(s) & ~index(s) & carries(n, a) & forall(d, carries(d, a) >> ((d == n) | ~window(d)))
    ),
)
m.sometimes(
    "dropped and gone",
    exists(a, s, said & tombstoned(a) & ~held & ~window(s)),
)

m.instance("generations", raws=1, summaries=2, assertions=1, facts=1)
m.instance("superseder", raws=1, summaries=1, assertions=2, facts=1)
m.instance("re-assertion", raws=2, summaries=0, assertions=2, facts=1)
m.instance("re-assertion and summary", large=True, raws=2, summaries=1, assertions=2, facts=1)
m.instance("bench", large=True, raws=2, summaries=2, assertions=2, facts=1)

machine = m.build()
