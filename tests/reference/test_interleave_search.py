"""The search over orders, on programs of a few reads and writes: what it finds with reduction is what there is."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorhold_reference.faults.interleave import (
    DeadlockError,
    Run,
    explore,
    multinomial,
    replay,
    shorten,
    switches,
    wander,
)
from anchorhold_reference.faults.stepping import LOCK, RIGHT, ROWS, Footprint, Statements, Step

WORKERS = ("a", "b", "c")


class Toy:
    """Workers that read and write variables. `r x` reads, `w x` writes what was read last and who it is, `? x` ends
    the worker early where x was written, `lock` and `unlock` are the begin and end of a transaction."""

    def __init__(self, programs: dict[str, tuple[str, ...]]) -> None:
        self.programs = programs
        self.at = dict.fromkeys(programs, 0)
        self.memory: dict[str, str] = {}
        self.read = dict.fromkeys(programs, "")
        self.holder: str | None = None
        self.begun = 0
        self.steps: list[Step] = []

    def unfinished(self) -> tuple[str, ...]:
        return tuple(w for w, program in self.programs.items() if self.at[w] < len(program))

    def enabled(self) -> tuple[str, ...]:
        return tuple(
            w for w in self.unfinished() if self.holder in {None, w} or self.programs[w][self.at[w]][0] not in "wl"
        )

    def step(self, worker: str) -> Step:
        does, _, variable = self.programs[worker][self.at[worker]].partition(" ")
        self.at[worker] += 1
        cell = (variable, "value")
        reads, writes = frozenset[tuple[str, str]](), frozenset[tuple[str, str]]()
        begins = self.begun if self.holder == worker else None
        if does == "r":
            reads = frozenset({cell})
            self.read[worker] += self.memory.get(variable, "-")
        elif does == "w":
            reads, writes = frozenset({RIGHT}), frozenset({cell})
            self.memory[variable] = worker + self.read[worker][-3:]
        elif does == "?":
            reads = frozenset({cell})
            if variable in self.memory:
                self.at[worker] = len(self.programs[worker])
                if self.holder == worker:
                    self.holder, writes = None, frozenset({LOCK})
        elif does == "lock":
            self.holder, self.begun, writes = worker, len(self.steps), frozenset({LOCK})
            begins = self.begun
        else:
            self.holder, writes = None, frozenset({LOCK})
        step = Step(worker, f"{does} {variable}", Footprint(reads, writes), begins)
        self.steps.append(step)
        return step

    def close(self) -> None:
        pass

    @property
    def end(self) -> str:
        return f"{sorted(self.memory.items())} {sorted(self.read.items())}"


def ends(programs: dict[str, tuple[str, ...]], *, reduced: bool):
    found: set[str] = set()

    def visit(run: Run) -> None:
        assert isinstance(run, Toy)
        found.add(run.end)

    return explore(lambda: Toy(programs), visit=visit, reduced=reduced), found


ACTION = st.sampled_from(["r x", "w x", "r y", "w y", "? x"])
FREE = st.lists(ACTION, min_size=1, max_size=3).map(tuple)
LOCKED = st.lists(ACTION, max_size=2).map(lambda some: ("lock", *some, "unlock"))


@given(st.lists(FREE, min_size=2, max_size=3))
@settings(max_examples=50, deadline=None)
def test_one_of_each_class_ends_in_every_way_in_which_any_order_ends(some):
    programs = dict(zip(WORKERS, some, strict=False))
    whole, all_ends = ends(programs, reduced=False)
    found, some_ends = ends(programs, reduced=True)

    assert some_ends == all_ends
    assert found.schedules == whole.runs
    assert found.padded == found.combinatorial == whole.padded
    # Source sets run no class twice.
    assert found.runs == found.classes == whole.classes
    if not found.steps_vary:
        assert whole.runs == multinomial(dict(zip(WORKERS, found.longest, strict=False)))


@given(st.lists(st.one_of(FREE, LOCKED), min_size=2, max_size=3))
@settings(max_examples=50, deadline=None)
def test_that_also_holds_where_workers_wait_for_each_other(some):
    programs = dict(zip(WORKERS, some, strict=False))
    whole, all_ends = ends(programs, reduced=False)
    found, some_ends = ends(programs, reduced=True)

    assert some_ends == all_ends
    assert found.schedules == whole.runs


def test_orders_that_touch_nothing_in_common_are_one_class():
    found, _ = ends({"a": ("w x", "r x"), "b": ("r y", "r y", "r y")}, reduced=True)

    assert (found.runs, found.schedules, found.combinatorial) == (1, 10, 10)


def test_a_class_that_is_left_out_is_missed_in_the_count():
    found, _ = ends({"a": ("w x",), "b": ("r x",)}, reduced=True)
    assert found.padded == found.combinatorial == 2
    found.orders.popitem()
    assert found.padded == 1


class Stuck(Toy):
    def enabled(self) -> tuple[str, ...]:
        return () if len(self.steps) == 1 else super().enabled()


def test_workers_that_wait_for_each_other_are_found():
    with pytest.raises(DeadlockError, match=r"after a: a, b wait for each other"):
        explore(lambda: Stuck({"a": ("w x", "w x"), "b": ("w y",)}), visit=lambda _: None)


def test_an_order_is_shortened_to_few_switches():
    def lost(names: Sequence[str]) -> bool:
        """An update that is lost: both have read before either writes."""
        run = Toy({"a": ("r x", "r y", "w x"), "b": ("r y", "r x", "r y", "w x")})
        replay(lambda: run, names, visit=lambda _: None)
        order = [step.worker + step.call for step in run.steps]
        writes = [order.index("aw x"), order.index("bw x")]
        return max(order.index("ar x"), order.index("br x")) < min(writes)

    long = ("a", "b", "a", "b", "b", "a", "b")
    assert lost(long)
    short = shorten(long, lost)

    assert lost(short)
    assert switches(short) == 2
    assert sorted(short) == sorted(long)


def test_orders_drawn_at_random_are_those_of_the_seed():
    programs = {"a": ("r x", "r x", "r x"), "b": ("w x", "w x")}
    first, again = (wander(lambda: Toy(programs), visit=lambda _: None, runs=20, seed=3) for _ in range(2))

    assert first == again
    assert len(first) > 3


# -- what a statement touches --


def test_a_statement_touches_the_columns_that_sqlite_says():
    statements = Statements()
    update = statements.touched("UPDATE pointer SET holding = 'gone' WHERE epoch = ?", (1,))
    look = statements.touched("SELECT copy FROM pointer WHERE span = ?", (1,))
    held = statements.touched("SELECT 1 FROM pointer WHERE holding = 'staged'", ())
    insert = statements.touched(
        "INSERT INTO turn (carrier, session, id, speaker, digest) VALUES (1, 1, '', '', '')", ()
    )
    view = statements.touched("SELECT node FROM visible", ())

    assert update.writes == {("pointer", "holding")}
    assert not update.conflicts(look)
    assert update.conflicts(held)
    assert ("turn", ROWS) in insert.writes
    # A row that refers to another needs it to be there.
    assert insert.conflicts(statements.touched("DELETE FROM carrier WHERE id = 1", ()))
    assert ("lineage", "session") in view.reads


def test_what_sqlite_does_not_understand_touches_anything():
    statements = Statements()
    odd = statements.touched("SELECT * FROM nowhere", ())

    assert odd.whole
    assert odd.conflicts(statements.touched("SELECT seen FROM age", ()))


@pytest.mark.parametrize(
    ("one", "other", "meets"),
    [
        ("DELETE FROM cold WHERE slot = 1", "SELECT payload FROM cold WHERE slot = 2", True),
        ("UPDATE age SET seen = 1", "UPDATE age SET elapsed = 1", False),
        ("UPDATE age SET seen = 1", "UPDATE age SET seen = 2", True),
        ("INSERT INTO free_slot (slot) VALUES (1)", "SELECT count(*) FROM free_slot", True),
        ("UPDATE counter SET value = 1 WHERE name = 'slot'", "SELECT count(*) FROM counter", False),
        ("SELECT seen FROM age", "SELECT seen FROM age", False),
    ],
)
def test_statements_conflict_where_their_order_can_matter(one, other, meets):
    statements = Statements()

    assert statements.touched(one, ()).conflicts(statements.touched(other, ())) is meets
    assert statements.touched(other, ()).conflicts(statements.touched(one, ())) is meets
