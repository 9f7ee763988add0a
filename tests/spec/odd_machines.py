"""Machines written to be awkward: what each has of the language is in its name. Samples for the explorer's tests."""

from anchorhold_spec.language import Machine, MachineBuilder, bound, exists, forall, safety, succ


def parts_and_rigid_data() -> Machine:
    """Parts on both sides of functions, one of them not first among its parent's; given and free rigid data."""
    m = MachineBuilder("parts", "", rules={"ODD-1"}, alphabet=())
    beast = m.sort("beast", symmetric=True)
    cat, dog = m.part("cat", beast), m.part("dog", beast)
    mood = m.enum("mood", "calm", "wild", "gone")
    chases = m.pfun("chases", dog, to=cat)
    friend = m.pfun("friend", beast, to=beast)
    chaser = m.pfun("chaser", cat, to=dog)
    mood_of = m.fun("mood_of", beast, to=mood, initial=mood.calm)
    strong = m.rigid_rel("strong", dog)
    b, o, c, d, e = beast("b"), beast("o"), cat("c"), dog("d"), dog("e")
    m.axiom("strong together", forall(d, e, strong(d) >> strong(e)))
    m.action(
        "chase",
        d,
        c,
        doc="",
        guards=[safety("free", ~chases(d).defined), safety("nobody else", forall(e, chases(e) != c))],
        updates=[chases(d).becomes(c), chaser(c).becomes(d), mood_of(c).becomes(mood.wild)],
    )
    m.action(
        "meet",
        b,
        o,
        d,
        doc="The friend of a dog's prey is found by binding a part's variable from a function into the whole.",
        guards=[
            bound("two", b != o, "nobody meets themselves"),
            safety("a dog", friend(b) == d),
            safety("wild", mood_of(o).one_of(mood.wild, mood.gone)),
        ],
        updates=[friend(o).becomes(friend(b)), mood_of(b).becomes(mood_of(o))],
    )
    m.action(
        "befriend",
        b,
        o,
        doc="",
        guards=[
            safety("alone", ~friend(b).defined),
            safety("cat or strong", cat.has(o) | exists(d, (o == d) & strong(d))),
        ],
        updates=[friend(b).becomes(o)],
    )
    m.action("calm down", doc="", fault=True, updates=[mood_of(b).becomes(mood.calm, when=cat.has(b), each=b)])
    m.invariant("few friends", exists(b, ~friend(b).defined | (friend(b) != b)), rules=["ODD-1"])
    m.transition(
        "a prey stays", forall(d, c, (chases(d) == c) >> (chases(d).next == c)), rules=["ODD-1"], on=["chase", "meet"]
    )
    m.sometimes("two chases", exists(d, e, (d != e) & chases(d).defined & chases(e).defined))
    m.instance("small", cats=2, dogs=1)
    m.instance("no dogs", cats=2, dogs=0)
    m.instance("more dogs", cats=1, dogs=2)
    return m.build()


def several_words() -> Machine:
    """A table of more than a word, next to others; whole rows written at once, from values of the state before."""
    m = MachineBuilder("several words", "", rules={"ODD-1"}, alphabet=())
    node, level = m.sort("node"), m.ordered("level")
    rank = m.fun("rank", node, node, to=level, initial=level.zero)
    parent = m.pfun("parent", node, node, to=node)
    lit = m.rel("lit", node)
    ready = m.rel("ready", initial=True)
    last = m.pfun("last", to=node)
    n, k, x, y, i, j = node("n"), node("k"), node("x"), node("y"), level("i"), level("j")
    m.action(
        "raise",
        n,
        k,
        i,
        j,
        doc="",
        guards=[
            safety("ready", ready()),
            safety("level", rank(n, k) == i),
            safety("next", succ(i, j)),
            bound("one at a time", ~last().defined | (last() == n) | lit(k), "fewer states"),
            bound("not both", n != k, "fewer states"),
            bound("few", forall(x, y, (rank(x, y) == level.zero) | ((x == n) & (y == k))), "fewer states"),
        ],
        updates=[
            rank(n, k).becomes(j),
            parent(x, k).becomes(n, when=rank(x, n) == level.zero, each=x),
            last().becomes(n),
            ready().becomes(lit(n) | ~lit(n)),
        ],
    )
    m.action(
        "light",
        n,
        doc="",
        guards=[safety("dark", ~lit(n)), safety("last", last() == n)],
        updates=[lit(x).becomes(lit(x) | (x == n), each=x), last().cleared(), ready().becomes(False, when=lit(n))],
    )
    m.action(
        "forget",
        n,
        doc="",
        fault=True,
        guards=[safety("lit", lit(n))],
        updates=[parent(n, x).cleared(each=x), lit(n).becomes(False)],
    )
    m.invariant("not all lit at the top", ~forall(n, lit(n) & exists(k, rank(n, k) != level.zero)), rules=["ODD-1"])
    m.auxiliary("nothing", forall(n, lit(n) >> exists(x, (x == n) & lit(x))))
    m.may_rest(exists(n, lit(n)))
    m.can_end("dark", trigger=exists(n, lit(n)), goal=forall(n, ~lit(n)), rules=["ODD-1"])
    m.instance("small", nodes=5, levels=2)
    return m.build()


def switches_and_quantified_guards() -> Machine:
    """Switches in guards and properties; quantifiers of both kinds in guards; a relation on one sort twice."""
    m = MachineBuilder("switches", "", rules={"ODD-1", "ODD-2"}, alphabet=())
    item = m.sort("item", symmetric=True)
    place = m.sort("place", symmetric=True)
    how = m.switch("how", "strict", "lax", "mad", default="strict")
    before = m.rel("before", item, item)
    held = m.pfun("held", item, to=place)
    done = m.rel("done", item)
    a, b, p = item("a"), item("b"), place("p")
    m.action(
        "take",
        a,
        p,
        doc="",
        guards=[
            safety("not held", ~held(a).defined & (how != "mad") | (how == "mad")),
            safety("place free", (how == "lax") | forall(b, held(b) != p)),
        ],
        updates=[held(a).becomes(p), before(b, a).becomes(held(b).defined, when=b != a, each=b)],
    )
    m.action(
        "finish",
        a,
        doc="",
        guards=[
            safety("held", held(a).defined),
            safety("those before are done", forall(b, before(b, a) >> (done(b) | before(a, b)))),
        ],
        updates=[done(a).becomes(True), held(a).cleared()],
    )
    m.invariant("one in a place", forall(a, b, p, ((held(a) == p) & (held(b) == p)) >> (a == b)), rules=["ODD-1"])
    m.invariant(
        "in order",
        forall(a, b, (done(a) & before(b, a) & ~before(a, b)) >> (done(b) | (how == "mad"))),
        rules=["ODD-2"],
    )
    m.sometimes("all done", forall(a, done(a)))
    m.sometimes("never so", exists(a, before(a, a)))
    m.instance("small", items=3, places=2)
    return m.build()


def unfair() -> Machine:
    """Progress that only a fault could make; a deadlock; an ordered sort's end."""
    m = MachineBuilder("unfair", "", rules={"ODD-1", "ODD-2"}, alphabet=())
    worker = m.sort("worker", symmetric=True)
    step = m.ordered("step")
    at = m.fun("at", worker, to=step, initial=step.zero)
    stuck = m.rel("stuck", worker)
    w, i, j = worker("w"), step("i"), step("j")
    m.action(
        "go",
        w,
        i,
        j,
        doc="",
        guards=[safety("free", ~stuck(w)), safety("here", at(w) == i), safety("next", succ(i, j))],
        updates=[at(w).becomes(j)],
    )
    m.action("stick", w, doc="", guards=[safety("on the way", step.zero < at(w))], updates=[stuck(w).becomes(True)])
    m.action("free", w, doc="", fault=True, guards=[safety("stuck", stuck(w))], updates=[stuck(w).becomes(False)])
    m.can_end("gets free", trigger=exists(w, stuck(w)), goal=forall(w, ~stuck(w)), rules=["ODD-1"])
    m.can_end("gets stuck", trigger=forall(w, ~stuck(w)), goal=exists(w, stuck(w)), rules=["ODD-2"])
    m.transition(
        "slow", forall(w, i, j, ((at(w) == i) & (at(w).next == j)) >> ((i == j) | succ(i, j))), rules=["ODD-2"]
    )
    m.instance("small", workers=2, steps=2)
    return m.build()


ODD = (parts_and_rigid_data(), several_words(), switches_and_quantified_guards(), unfair())
