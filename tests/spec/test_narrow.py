"""What of a two-state property a step can break: nothing that could have broken is left out."""

import pytest
from lending import lending
from odd_machines import ODD

from anchorhold_spec.explore.narrow import always, breakable
from anchorhold_spec.explore.prepare import prepare
from anchorhold_spec.explore.uncompiled import PlainCode
from anchorhold_spec.language import Machine, MachineBuilder, exists, forall, safety
from anchorhold_spec.machines import load, names
from anchorhold_spec.run import GuardId, Interpreter

STATES = 60
"""Of each machine: its first ones."""

SHOP = MachineBuilder("shop", "Things are wanted, bought and lost.", rules={"SHO-1"}, alphabet=())
THING = SHOP.sort("thing")
STATE = SHOP.enum("state", "wanted", "bought", "lost")
STATE_OF = SHOP.fun("state_of", THING, to=STATE, initial=STATE.wanted)
TWIN = SHOP.pfun("twin", THING, to=THING)
SEEN = SHOP.rel("seen", THING)
X, Y = THING("x"), THING("y")


def shop() -> Machine:
    SHOP.action("look", X, doc="", updates=[SEEN(X).becomes(True)])
    SHOP.action("buy", X, doc="", guards=[safety("seen", SEEN(X))], updates=[STATE_OF(X).becomes(STATE.bought)])
    SHOP.action(
        "pair",
        X,
        Y,
        doc="",
        guards=[safety("two", X != Y)],
        updates=[TWIN(X).becomes(Y), TWIN(Y).becomes(X)],
    )
    SHOP.action("fire", doc="", updates=[STATE_OF(X).becomes(STATE.lost, each=X)])
    SHOP.invariant("bought is seen", forall(X, (STATE_OF(X) == STATE.bought) >> SEEN(X)), rules=["SHO-1"])
    SHOP.sometimes("lost", exists(X, STATE_OF(X) == STATE.lost))
    SHOP.sometimes("paired", exists(X, TWIN(X).defined))
    SHOP.instance("small", things=2)
    return SHOP.build()


MACHINE = shop()
STAYS = forall(Y, (STATE_OF(Y) == STATE.bought) >> (STATE_OF(Y).next == STATE.bought))
FAITHFUL = forall(X, TWIN(X).next == TWIN(X))
TOTAL = forall(X, STATE_OF(X).next == STATE_OF(X))


@pytest.mark.parametrize(
    ("formula", "action", "expected"),
    [
        pytest.param(STAYS, "look", [], id="what is left alone stays as it is"),
        pytest.param(STAYS, "buy", [{"y": "x"}], id="only where it is written"),
        pytest.param(STAYS, "fire", [{}], id="everywhere, where everything is written"),
        pytest.param(TOTAL, "pair", [], id="a total function is equal to itself"),
        pytest.param(FAITHFUL, "look", [{}], id="an undefined value is not equal to itself"),
        pytest.param(FAITHFUL, "pair", [{}], id="two cells are written, and neither is the only one"),
        pytest.param(STAYS & FAITHFUL, "buy", [{"y": "x"}, {}], id="each conjunct by itself"),
        pytest.param(forall(X, STATE_OF(X).next == STATE.wanted), "buy", [{}], id="not for granted elsewhere"),
        pytest.param(exists(X, SEEN(X).next), "look", [{}], id="no quantifier that goes over all"),
    ],
)
def test_where_a_property_is_looked_at(formula, action, expected):
    parts = breakable(formula, MACHINE.action(action))

    assert [dict(part.at) for part in parts] == expected


def test_what_always_holds():
    one, other = SEEN(X), TWIN(X).defined

    assert always(forall(X, one >> one))
    assert always(~(one & ~one))
    assert always((one & other) >> (other | one))
    assert not always(one >> other)
    assert not always(forall(X, TWIN(X) == TWIN(X)))
    assert always(TWIN(X).defined >> (TWIN(X) == TWIN(X)))


@pytest.mark.parametrize(
    "machine", [pytest.param(each, id=each.name) for each in (lending(), *ODD, *(load(name) for name in names()))]
)
def test_a_step_that_breaks_a_property_is_seen(machine):
    """Without any guard, so that there is a lot to break: the code's flags are what the interpreter says."""
    dropped = [GuardId(action.name, guard.name) for action in machine.actions for guard in action.guards]
    prepared = prepare(machine, dropped=dropped)
    code = PlainCode(prepared)
    invariants = len(prepared.machine.invariants)
    order = {each.name: invariants + i for i, each in enumerate(prepared.machine.transitions)}
    seen = list(prepared.start)
    known = set(seen)
    for packed in seen[:STATES]:
        code.flags = [0] * len(code.flags)
        steps = code.steps(packed)
        flagged = {name for name, i in order.items() if code.flags[i]}
        interpreter = Interpreter(prepared.instance_of(packed))
        before = prepared.layout.unpack(packed)[1]
        broken = {
            each.name
            for label, after in steps
            for each in interpreter.broken_by(
                before, prepared.source.step_of(label)[0], prepared.layout.unpack(after)[1]
            )
        }
        assert flagged == broken
        for _, after in steps:
            if after not in known and len(seen) < STATES:
                known.add(after)
                seen.append(after)
