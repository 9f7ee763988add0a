"""The module of code for one machine at one size: its steps and properties over packed states.

Made from the machine alone; nothing here knows one by name. The text is the same whether it is compiled or not, but
for how conditions are joined (see `emit.connected`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anchorhold_spec.explore import symmetry as symmetries
from anchorhold_spec.explore.config import Config, config_of
from anchorhold_spec.explore.emit import Body, Env, Tables, Test
from anchorhold_spec.explore.layout import Layout, lay_out
from anchorhold_spec.explore.narrow import Part, breakable
from anchorhold_spec.explore.symmetry import NONE, Symmetry, canonical_code
from anchorhold_spec.language import Action, Formula, Machine, Not, Transition
from anchorhold_spec.language.walk import shape
from anchorhold_spec.run import Table

_CUT = "# ---- below this line"


@dataclass(frozen=True)
class Source:
    """Generated code with what is needed to make sense of its states."""

    machine: Machine
    layout: Layout
    config: Config
    symmetry: Symmetry
    text: str
    """All but the loops that only make sense compiled."""
    successors: int
    """At most so many steps lead from a state."""
    bases: Mapping[str, int]
    """Label of each action's first binding; labels count bindings, row-major over the parameters."""
    scratch: tuple[int, int]
    """Shape of the array that finding canonical forms needs."""
    order: tuple[str, ...]
    """The actions, those that are no faults first: positions in the coverage array."""

    def step_of(self, label: int) -> tuple[str, tuple[int, ...]]:
        """The action and its parameters."""
        name = max((n for n, base in self.bases.items() if base <= label), key=self.bases.__getitem__)
        rest = label - self.bases[name]
        binding: list[int] = []
        for param in reversed(self.machine.action(name).params):
            individuals = self.layout.individuals(param.sort)
            rest, digit = divmod(rest, len(individuals))
            binding.append(individuals.start + digit)
        return name, tuple(reversed(binding))


def generate(
    machine: Machine,
    universe: Mapping[str, int],
    given: Mapping[str, Table],
    *,
    symmetry: bool,
    mutable: bool = False,
) -> Source:
    """The code. `given` has the tables of the rigid symbols that are given, by name.

    `mutable`: guards can be left out by the settings. One such module serves all mutants of a machine; without it
    the code is smaller and faster.
    """
    layout = lay_out(machine, universe)
    found = symmetries.find(layout, given) if symmetry else NONE
    config = config_of(machine)
    tables = Tables(given)
    writer = _Writer(machine, layout, config, tables, mutable=mutable)
    functions = writer.functions()
    scratch = (1, 1)
    constants: dict[str, str] = dict(tables.constants)
    if found.used:
        code = canonical_code(layout, found)
        functions += code.lines
        constants |= code.constants
        scratch = (code.rows, code.columns)
    else:
        functions += ["@inner", "def canonical(rows, i, sense, work):", "    return 0"]
    header = [
        f'"""{machine.name} at {dict(universe)}: generated, not to be edited."""',
        "",
        f"WORDS = {layout.words}",
        f"ACTIONS = {len(machine.actions)}",
        f"PROPERTIES = {len(config.properties)}",
        f"SUCCESSORS = {max(writer.successors, 1)}",
        f"SYMMETRIC = {bool(found.used)}",
        *(f"{name} = constant({definition})" for name, definition in constants.items()),
        "",
        "",
    ]
    return Source(
        machine,
        layout,
        config,
        found,
        "\n".join([*header, *functions, ""]),
        max(writer.successors, 1),
        writer.bases,
        scratch,
        tuple(action.name for action in writer.actions),
    )


def near_misses(source: Source, given: Mapping[str, Table], action: str, guard: str) -> str:
    """A function `act`, as those of the module, of what leaving one guard of an action out would add.

    Those are the action's steps with individuals for whom this guard fails and all others hold.
    """
    tables = Tables(given)
    writer = _Writer(source.machine, source.layout, source.config, tables, mutable=False)
    declared = source.machine.action(action)
    tests = [Test(Not(each.formula) if each.name == guard else each.formula) for each in declared.guards]
    lines = writer.act("act", declared, tests)
    return "\n".join([*(f"{name} = constant({value})" for name, value in tables.constants.items()), "", "", *lines])


def template(name: str) -> str:
    """The part of a template that is copied."""
    text = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    below = text[text.index(_CUT) :]
    return below[below.index("\n") + 1 :]


class _Writer:
    """Writes all functions of a machine."""

    def __init__(self, machine: Machine, layout: Layout, config: Config, tables: Tables, *, mutable: bool) -> None:
        self.machine = machine
        self.layout = layout
        self.config = config
        self.tables = tables
        self.mutable = mutable
        self.actions = sorted(machine.actions, key=lambda action: action.fault)
        self.bases: dict[str, int] = {}
        self.successors = 0
        self.narrow: dict[tuple[object, ...], str] = {}
        """Names of the functions that look at a part of a two-state property, by what they look at."""
        self.narrow_lines: list[str] = []
        for action in machine.actions:
            self.bases[action.name] = self.successors
            count = 1
            for param in action.params:
                count *= len(layout.individuals(param.sort))
            self.successors += count
            if not count:
                # A parameter has nobody to be: the action never happens, and has no labels.
                del self.bases[action.name]

    def functions(self) -> list[str]:
        """Lines of all functions but the canonical form."""
        lines: list[str] = []
        actions: list[str] = []
        for i, action in enumerate(self.actions):
            actions += self._action(f"act_{i}", action)
        lines += self.narrow_lines + actions
        for i, invariant in enumerate(self.machine.invariants):
            lines += self._closed(f"invariant_{i}", invariant.formula)
        for i, transition in enumerate(self.machine.transitions):
            lines += self._two_state(f"transition_{i}", transition.formula)
        for i, sometimes in enumerate(self.machine.sometimes):
            lines += self._closed(f"sometimes_{i}", sometimes.formula)
        for i, progress in enumerate(self.machine.progress):
            lines += self._closed(f"trigger_{i}", progress.trigger)
            lines += self._closed(f"goal_{i}", progress.goal)
        if self.machine.may_rest is None:
            lines += ["@inner", "def may_rest(src, row, cfg):", "    return False", "", ""]
        else:
            lines += self._closed("may_rest", self.machine.may_rest)
        lines += self._dispatch("trigger")
        lines += self._dispatch("goal")
        lines += self._successors()
        lines += self._check()
        return lines

    def _body(self, after: str = "m") -> Body:
        return Body(self.layout, self.config, self.tables, after=after)

    def _closed(self, name: str, formula: Formula) -> list[str]:
        body = self._body()
        body.assign("t", formula, {})
        body.line("return t")
        return [*body.text(f"def {name}(src, row, cfg)"), "", ""]

    def _two_state(self, name: str, formula: Formula) -> list[str]:
        body = self._body()
        body.assign("t", formula, {})
        body.line("return t")
        return [*body.text(f"def {name}(src, row, out, m, cfg)"), "", ""]

    def _action(self, name: str, action: Action) -> list[str]:
        body = self._body()
        tests = [
            Test(guard.formula, body.bit(self._guard_bit(action.name, guard.name)) if self.mutable else None)
            for guard in action.guards
        ]
        checks = [
            (j, parts)
            for j, transition in enumerate(self.machine.transitions)
            if _narrow(parts := self._parts(transition, action))
        ]
        return self._steps(body, f"def {name}(src, row, cfg, out, label, n, flags)", action, tests, checks)

    def act(self, name: str, action: Action, tests: Sequence[Test]) -> list[str]:
        """The function that takes an action's steps where the tests hold."""
        return self._steps(self._body(), f"def {name}(src, row, cfg, out, label, n)", action, tests, ())

    def _steps(
        self,
        body: Body,
        header: str,
        action: Action,
        tests: Sequence[Test],
        checks: Sequence[tuple[int, Sequence[Part]]],
    ) -> list[str]:
        """`checks`: what is looked at in each step, by the number of the two-state property."""

        def step(env: Env, _loops: int) -> None:
            touched = [self.layout.place(update.symbol) for update in action.updates]
            locals_ = {place.word for place in touched if not place.spread and place.width}
            # Spread words are changed in place, in the new row: so all of it is copied before anything is written.
            for word in range(self.layout.words):
                if word in locals_:
                    body.line(f"n{word} = {body.word(word)}")
                elif word in self.layout.spread_words:
                    body.line(f"out[n, {word}] = src[row, {word}]")
                else:
                    body.line(f"out[n, {word}] = {body.word(word)}")
            for update in action.updates:
                body.write(update, env)
            for word in sorted(locals_):
                body.line(f"out[n, {word}] = n{word}")
            body.line(f"label[n] = {self._label(action, env)}")
            for j, parts in checks:
                position = len(self.machine.invariants) + j
                bit = body.bit(self.config.watched(self.config.properties[position]))
                call = self._narrow_call(j, parts, env)
                with body.block(f"if {bit} and not {call}"):
                    self._raise(body, position)
            body.line("n += 1")

        body.choose(action.params, tests, {}, step)
        body.line("return n")
        return [*body.text(header), "", ""]

    def _parts(self, transition: Transition, action: Action) -> tuple[Part, ...]:
        """What of a two-state property is to be looked at after steps of an action."""
        if transition.on is not None and action.name not in transition.on:
            return ()
        return breakable(transition.formula, action)

    def _narrow_call(self, j: int, parts: Sequence[Part], env: Env) -> str:
        """The call of the function that looks at parts of a property, which is written if there is none yet."""
        key = (j, *((shape(part.formula), *sorted(part.at)) for part in parts))
        individuals = [env[part.at[variable]] for part in parts for variable in sorted(part.at)]
        if key not in self.narrow:
            name = f"narrow_{len(self.narrow)}"
            self.narrow[key] = name
            body = self._body()
            body.line("t = True")
            given = iter(f"y{i}" for i in range(len(individuals)))
            for part in parts:
                inner = {variable: next(given) for variable in sorted(part.at)}
                with body.block("if t"):
                    body.assign("t", part.formula, inner)
            body.line("return t")
            arguments = "".join(f", y{i}" for i in range(len(individuals)))
            self.narrow_lines += [*body.text(f"def {name}(src, row, out, m, cfg{arguments})"), "", ""]
        return f"{self.narrow[key]}({', '.join(['src', 'row', 'out', 'n', 'cfg', *individuals])})"

    def _guard_bit(self, action: str, guard: str) -> int:
        return next(i for i, each in enumerate(self.config.guards) if each.action == action and each.guard == guard)

    def _label(self, action: Action, env: Env) -> str:
        text = ""
        for param in action.params:
            individuals = self.layout.individuals(param.sort)
            digit = env[param.name] + (f" - {individuals.start}" if individuals.start else "")
            text = f"({text}) * {len(individuals)} + {digit}" if text else digit
        base = self.bases.get(action.name, 0)
        return f"{base} + {text}" if text else str(base)

    def _dispatch(self, kind: str) -> list[str]:
        body = self._body()
        for i in range(len(self.machine.progress)):
            with body.block(f"if which == {i}"):
                body.line(f"return {kind}_{i}(src, row, cfg)")
        body.line("return False")
        return [*body.text(f"def {kind}(which, src, row, cfg)"), "", ""]

    def _successors(self) -> list[str]:
        body = self._body()
        body.line("n = 0")
        body.line("cover[ACTIONS] = 0")
        for i, action in enumerate(self.actions):
            body.line(f"m{i} = n")
            body.line(f"n = act_{i}(src, row, cfg, out, label, n, flags)")
            body.line(f"cover[{i}] += n - m{i}")
            if not action.fault:
                body.line("cover[ACTIONS] = n")
        body.line(f"m{len(self.actions)} = n")
        for j, transition in enumerate(self.machine.transitions):
            spans = self._spans(transition)
            if not spans:
                continue
            with body.block(f"if {body.bit(self.config.watched(transition.name))}"):
                for first, last in spans:
                    broken = f"if not transition_{j}(src, row, out, m, cfg)"
                    with body.block(f"for m in range(m{first}, m{last})"), body.block(broken):
                        self._raise(body, len(self.machine.invariants) + j)
        body.line("return n")
        return [*body.text("def successors(src, row, cfg, out, label, cover, flags)", entry=True), "", ""]

    def _spans(self, transition: Transition) -> list[tuple[int, int]]:
        """The runs of actions whose steps are looked at as a whole, once all are taken: where they begin and end."""
        runs: list[tuple[int, int]] = []
        for i, action in enumerate(self.actions):
            parts = self._parts(transition, action)
            if parts and not _narrow(parts):
                begun = runs.pop()[0] if runs and runs[-1][1] == i else i
                runs.append((begun, i + 1))
        return runs

    def _check(self) -> list[str]:
        body = self._body()
        checks: Sequence[tuple[str, str]] = [
            *((f"invariant_{i}", "not ") for i in range(len(self.machine.invariants))),
            *((f"sometimes_{i}", "") for i in range(len(self.machine.sometimes))),
        ]
        for name, negation in checks:
            kind, number = name.split("_")
            offset = 0 if kind == "invariant" else len(self.machine.invariants) + len(self.machine.transitions)
            position = offset + int(number)
            bit = body.bit(self.config.watched(self.config.properties[position]))
            with body.block(f"if {bit} and {negation}{name}(src, row, cfg)"):
                self._raise(body, position)
        body.line("return 0")
        return [*body.text("def check(src, row, cfg, flags)"), "", ""]

    @staticmethod
    def _raise(body: Body, position: int) -> None:
        body.line(f"flags[{position}] = 1")
        body.line("flags[PROPERTIES] = 1")


def _narrow(parts: Sequence[Part]) -> bool:
    """A property is looked at for a few individuals only: so that it is done where the step is taken."""
    return bool(parts) and all(part.at for part in parts)
