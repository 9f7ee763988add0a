"""A machine as a TLA+ module, with a model of one finite instance that TLC accepts.

The module holds the machine whole: sorts and switches are its constants, every symbol a variable (rigid ones too;
no step changes them), every action, invariant and two-state property an operator. The model is a second module that
names the individuals and fixes given data, and a configuration that chooses sizes and switches.

Where a partial function has no value the variable holds `undefined`, a model value that differs from everything.
What TLA+ cannot say is said in a comment: that something can always end (a branching-time property).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from anchorhold_spec.language import (
    Action,
    Formula,
    Function,
    Lit,
    Machine,
    Relation,
    Sort,
    SortKind,
    Symbol,
    Term,
    UnknownChoice,
    Update,
    show_element,
)
from anchorhold_spec.publish.names import ascii_only
from anchorhold_spec.publish.tla_text import UNDEFINED, TlaNames, TlaText

_WIDTH = 118
_UNION = " \\union "


@dataclass(frozen=True)
class TlaExport:
    """A machine and one finite instance of it, as texts. Each module goes into a file `<its name>.tla`."""

    name: str
    """Of the machine's module."""
    module: str
    model_name: str
    """Of the model's module and of the configuration (`<model_name>.cfg`)."""
    model: str
    config: str
    properties: Mapping[str, str]
    """From the operators that the configuration checks to the names of the properties that they state."""

    def files(self) -> dict[str, str]:
        """Texts by file name."""
        return {
            f"{self.name}.tla": self.module,
            f"{self.model_name}.tla": self.model,
            f"{self.model_name}.cfg": self.config,
        }


def export_tla(
    machine: Machine,
    *,
    sizes: Mapping[str, int] | None = None,
    switches: Mapping[str, str] | None = None,
    auxiliary: bool = False,
    symmetry: bool = False,
) -> TlaExport:
    """The machine as TLA+.

    `sizes` and `switches` choose the instance (defaults as in the machine); `auxiliary` has TLC check the invariants
    that only proofs need as well; `symmetry` declares the interchangeable sorts as such. Raises UnknownChoice for
    sizes or switches that do not fit.
    """
    writer = _Writer(machine)
    module = "\n".join(writer.module()) + "\n"
    model = _Model(writer, machine.universe(sizes), switches or {}, auxiliary=auxiliary, symmetry=symmetry)
    return TlaExport(
        name=writer.names.module,
        module=module,
        model_name=model.name,
        model="\n".join(model.module()) + "\n",
        config="\n".join(model.config()) + "\n",
        properties={**model.invariants, **model.transitions},
    )


class _Writer:
    """The module of the machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.names = TlaNames(machine)
        self.text = TlaText(self.names)

    def module(self) -> Iterator[str]:
        machine, names = self.machine, self.names
        head = f" MODULE {names.module} "
        yield head.center(_WIDTH, "-")
        yield from _comment(f"{machine.name}: {machine.doc}")
        yield from _comment("Written from the machine of the specification; to change it, change the machine.")
        yield ""
        yield "EXTENDS Naturals"
        yield ""
        yield from self._constants()
        yield from self._variables()
        yield from self._types()
        yield from self._init()
        for action in machine.actions:
            yield from self._action(action)
        yield from self._next()
        yield from self._properties()
        yield "=" * _WIDTH

    def _constants(self) -> Iterator[str]:
        names = self.names
        lines: list[tuple[str, str]] = [(UNDEFINED, "Where a partial function has no value.")]
        derived: list[str] = []
        for sort in self.machine.sorts:
            name = names.sorts[sort]
            doc = f"{sort.doc}" if sort.doc else f"The sort {sort.name}."
            if sort.kind is SortKind.ENUM:
                derived.append(f"{name} == {{{', '.join(_quote(value) for value in sort.values)}}}")
            elif sort.kind is SortKind.ORDERED:
                lines.append((names.greatest[sort], f"The greatest {sort.name}. {sort.doc}".strip()))
                derived.append(f"{name} == 0..{names.greatest[sort]}")
            elif parts := self.machine.parts_of(sort):
                derived.append(f"{name} == " + _UNION.join(names.sorts[part] for part in parts))
            else:
                lines.append((name, doc))
        for switch in self.machine.switches:
            choices = " or ".join(_quote(value) for value in switch.values)
            lines.append((names.switches[switch.name], f"{choices}. {switch.doc}".strip()))
        yield "CONSTANTS"
        yield from _declared(lines)
        yield ""
        yield from derived
        yield ""

    def _variables(self) -> Iterator[str]:
        names = self.names
        yield "VARIABLES"
        yield from _declared([(names.symbols[s], _about(s)) for s in self.machine.symbols])
        yield ""
        yield f"vars == <<{', '.join(names.symbols[s] for s in self.machine.symbols)}>>"
        yield ""

    def _types(self) -> Iterator[str]:
        yield "TypeOK =="
        for symbol in self.machine.symbols:
            yield f"  /\\ {self.names.symbols[symbol]} \\in {self.space(symbol)}"
        yield ""

    def _init(self) -> Iterator[str]:
        yield "Init =="
        for symbol in self.machine.rigid_symbols:
            yield f"  /\\ {self.names.symbols[symbol]} \\in {self.space(symbol)}"
        for axiom in self.machine.axioms:
            yield from _bullet(self.text.lines(axiom.formula, {}), axiom.name)
        for symbol in self.machine.state_symbols:
            updates = [update for update in self.machine.initially if update.symbol is symbol]
            yield f"  /\\ {self.names.symbols[symbol]} = {self._table(symbol, updates, self._first(symbol))}"
        yield ""

    def _action(self, action: Action) -> Iterator[str]:
        names, machine = self.names, self.machine
        environment = {param.name: names.local(param.name) for param in action.params}
        by = f" By the {action.by.name}." if action.by else ""
        yield from _comment(f"{action.doc}{by}{' A fault.' if action.fault else ''}")
        params = f"({', '.join(environment.values())})" if environment else ""
        yield f"{names.actions[action.name]}{params} =="
        for guard in action.guards:
            why = f"{guard.name} ({guard.tag}{f': {guard.reason}' if guard.reason else ''})"
            yield from _bullet(self.text.lines(guard.formula, environment), why)
        for symbol in machine.state_symbols:
            updates = [update for update in action.updates if update.symbol is symbol]
            if updates:
                name = names.symbols[symbol]
                yield f"  /\\ {name}' = {self._after(symbol, updates, environment)}"
        written = {id(update.symbol) for update in action.updates}
        same = [names.symbols[symbol] for symbol in machine.symbols if id(symbol) not in written]
        if same:
            yield f"  /\\ UNCHANGED <<{', '.join(same)}>>"
        yield ""

    def _next(self) -> Iterator[str]:
        yield "Next =="
        for action in self.machine.actions:
            yield f"  \\/ {self.happens(action)}"
        yield ""
        yield "Spec == Init /\\ [][Next]_vars"
        yield ""

    def happens(self, action: Action) -> str:
        """The action for some parameters."""
        name = self.names.actions[action.name]
        if not action.params:
            return name
        locals_ = [self.names.local(param.name) for param in action.params]
        sorts = [self.names.sorts[param.sort] for param in action.params]
        bound = ", ".join(f"{each} \\in {sort}" for each, sort in zip(locals_, sorts, strict=True))
        return f"\\E {bound} : {name}({', '.join(locals_)})"

    def _properties(self) -> Iterator[str]:
        names, machine = self.names, self.machine
        for invariant in machine.invariants:
            about = ", ".join(invariant.rules) or "Only proofs need it"
            yield from _comment(f"{about}: {invariant.name}. {invariant.doc}")
            yield f"{names.properties[invariant.name]} =="
            yield from _indented(self.text.lines(invariant.formula, {}), "  ")
            yield ""
        for transition in machine.transitions:
            yield from _comment(f"{', '.join(transition.rules)}: {transition.name}. {transition.doc}")
            lines = self.text.lines(transition.formula, {})
            if transition.on is not None:
                steps = " \\/ ".join(f"({self.happens(machine.action(name))})" for name in transition.on)
                lines = [f"(({steps})) =>", *_indented(lines, "  ")]
            yield f"{names.properties[transition.name]} =="
            yield f"  [][{lines[0]}"
            yield from _indented(lines[1:], "     ")
            yield "    ]_vars"
            yield ""
        for sometimes in machine.sometimes:
            yield from _comment(f"Some reachable state has it: {sometimes.name}. {sometimes.doc}")
            yield f"{names.properties[sometimes.name]} =="
            yield from _indented(self.text.lines(sometimes.formula, {}), "  ")
            yield ""
            yield from _comment("To have TLC show such a state, check this as an invariant.")
            yield f"{names.never[sometimes.name]} == ~{names.properties[sometimes.name]}"
            yield ""
        for progress in machine.progress:
            yield from _comment(
                f"{', '.join(progress.rules)}: {progress.name}. {progress.doc} From every reachable state with the "
                "first, one with the second can be reached without a fault; TLA+ cannot say so."
            )
            for suffix, formula in (("Begins", progress.trigger), ("Ends", progress.goal)):
                yield f"{names.properties[progress.name]}_{suffix} =="
                yield from _indented(self.text.lines(formula, {}), "  ")
            yield ""

    # Tables

    def space(self, symbol: Symbol) -> str:
        """The set of all values of a variable."""
        if isinstance(symbol, Relation):
            values = "BOOLEAN"
        else:
            values = self.names.sorts[symbol.result]
            if symbol.partial:
                values += f" \\union {{{UNDEFINED}}}"
        if not symbol.domain:
            return f"({values})" if "union" in values else values
        return f"[{self.domain(symbol)} -> {values}]"

    def domain(self, symbol: Symbol) -> str:
        return " \\X ".join(self.names.sorts[sort] for sort in symbol.domain)

    def _first(self, symbol: Symbol) -> str:
        if isinstance(symbol, Relation):
            return _truth(symbol.initial)
        return UNDEFINED if symbol.initial is None else self.text.term(symbol.initial, {})

    def _after(self, symbol: Symbol, updates: list[Update], environment: Mapping[str, str]) -> str:
        name = self.names.symbols[symbol]
        if symbol.domain and not any(update.bound for update in updates):
            places = [self._except(update, environment) for update in updates]
            return f"[{name} EXCEPT {', '.join(places)}]"
        return self._table(symbol, updates, None, environment)

    def _except(self, update: Update, environment: Mapping[str, str]) -> str:
        place = ", ".join(self.text.term(each, environment) for each in update.target.arguments)
        value = self._value(update, environment)
        if not _always(update.condition):
            value = f"IF {self.text.inline(update.condition, environment)} THEN {value} ELSE @"
        return f"![{place}] = {value}"

    def _table(
        self,
        symbol: Symbol,
        updates: list[Update],
        otherwise: str | None,
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """The whole table after the updates; where none of them applies, `otherwise` or what was there."""
        environment = environment or {}
        indices = self._indices(symbol, updates, environment)
        name = self.names.symbols[symbol]
        here = f"{name}[{', '.join(indices)}]" if indices else name
        text = here if otherwise is None else otherwise
        for update in reversed(updates):
            condition, value = self._at(update, indices, environment)
            text = value if condition is None else f"IF {condition} THEN {value} ELSE {text}"
        if not indices:
            return text
        bound = ", ".join(
            f"{each} \\in {self.names.sorts[sort]}" for each, sort in zip(indices, symbol.domain, strict=True)
        )
        return f"[{bound} |-> {text}]"

    def _indices(self, symbol: Symbol, updates: list[Update], environment: Mapping[str, str]) -> list[str]:
        """Variables for a place of the table, called as an update calls them where one does."""
        indices: list[str] = []
        used = set(environment.values()) | {
            name for update in updates for name in self.text.bound_names(update.condition, update.value)
        }
        for position, sort in enumerate(symbol.domain):
            wanted = sort.name[0]
            for update in updates:
                argument = update.target.arguments[position]
                if any(argument is variable or _named(argument, variable.name) for variable in update.bound):
                    wanted = getattr(argument, "name", wanted)
                    break
            indices.append(self.names.local(wanted, {*used, *indices}))
        return indices

    def _at(self, update: Update, indices: list[str], environment: Mapping[str, str]) -> tuple[str | None, str]:
        """When the update applies to the place that the indices name (none: always), and the value there."""
        inner = dict(environment)
        tests: list[str] = []
        bound = {variable.name: variable for variable in update.bound}
        for index, argument, sort in zip(indices, update.target.arguments, update.symbol.domain, strict=True):
            name = getattr(argument, "name", None)
            if name in bound and name not in inner:
                inner[name] = index
                if bound[name].sort is not sort:
                    tests.append(f"{index} \\in {self.names.sorts[bound[name].sort]}")
            else:
                tests.append(f"{index} = {self.text.term(argument, inner)}")
        if not _always(update.condition):
            tests.append(self.text.part(update.condition, inner))
        return " /\\ ".join(tests) or None, self._value(update, inner)

    def _value(self, update: Update, environment: Mapping[str, str]) -> str:
        if update.value is None:
            return UNDEFINED
        if isinstance(update.value, Formula):
            return self.text.part(update.value, environment)
        assert isinstance(update.value, Term), "an update's value is a term, a formula or none"
        return self.text.term(update.value, environment)


class _Model:
    """One finite instance for TLC."""

    def __init__(
        self,
        writer: _Writer,
        universe: Mapping[str, int],
        switches: Mapping[str, str],
        *,
        auxiliary: bool,
        symmetry: bool,
    ) -> None:
        machine, names = writer.machine, writer.names
        machine.with_switches(**switches)
        self._writer, self._machine, self._names, self._universe = writer, machine, names, universe
        self._switches = {switch.name: switches.get(switch.name, switch.default) for switch in machine.switches}
        self.name = f"MC{names.module}"
        self.invariants = {
            names.properties[each.name]: each.name for each in machine.invariants if auxiliary or each.public
        }
        self.transitions = {names.properties[each.name]: each.name for each in machine.transitions}
        self._sets = [
            sort
            for sort in machine.sorts
            if sort.kind in (SortKind.PLAIN, SortKind.PART) and not machine.parts_of(sort)
        ]
        self._individuals = {
            (sort.base, index): names.individual(show_element(sort, index))
            for sort in self._sets
            for index in machine.individuals(sort, universe)
        }
        self._symmetric = [sort for sort in self._sets if symmetry and sort.symmetric and universe[sort.name] > 1]

    def module(self) -> Iterator[str]:
        yield f" MODULE {self.name} ".center(_WIDTH, "-")
        yield from _comment(
            f"One finite instance of {self._names.module}: its individuals, and the data that is given."
        )
        yield ""
        yield f"EXTENDS {self._names.module}"
        yield ""
        if self._individuals:
            yield f"CONSTANTS {', '.join(self._individuals.values())}"
            yield ""
        for sort in self._sets:
            members = [
                self._individuals[sort.base, index] for index in self._machine.individuals(sort, self._universe)
            ]
            yield f"MC_{self._names.sorts[sort]} == {{{', '.join(members)}}}"
        yield ""
        yield "MCInit =="
        for symbol in self._machine.rigid_symbols:
            if symbol.given is not None:
                yield f"  /\\ {self._names.symbols[symbol]} = {self._given(symbol)}"
        yield "  /\\ Init"
        yield ""
        yield "MCSpec == MCInit /\\ [][Next]_vars"
        yield ""
        if self._symmetric:
            yield "MCPermutations(S) == {f \\in [S -> S] : \\A x \\in S : \\E y \\in S : f[y] = x}"
            sets = (f"MCPermutations(MC_{self._names.sorts[sort]})" for sort in self._symmetric)
            yield "MCSymmetry == " + _UNION.join(sets)
            yield ""
        yield "=" * _WIDTH

    def config(self) -> Iterator[str]:
        names = self._names
        yield "SPECIFICATION MCSpec"
        yield "CONSTANTS"
        yield f"  {UNDEFINED} = {UNDEFINED}"
        for individual in self._individuals.values():
            yield f"  {individual} = {individual}"
        for sort in self._machine.sorts:
            if sort.kind is SortKind.ORDERED:
                yield f"  {names.greatest[sort]} = {self._universe[sort.name] - 1}"
        for sort in self._sets:
            yield f"  {names.sorts[sort]} <- MC_{names.sorts[sort]}"
        for name, value in self._switches.items():
            yield f"  {names.switches[name]} = {_quote(value)}"
        yield "INVARIANTS"
        yield "  TypeOK"
        yield from (f"  {name}" for name in self.invariants)
        if self.transitions:
            yield "PROPERTIES"
            yield from (f"  {name}" for name in self.transitions)
        if self._symmetric:
            yield "SYMMETRY MCSymmetry"

    def _given(self, symbol: Symbol) -> str:
        assert symbol.given is not None, "asked only for given data"
        ranges = [self._machine.individuals(sort, self._universe) for sort in symbol.domain]
        entries: list[str] = []
        for cell in product(*ranges):
            found = symbol.given(*cell)
            if isinstance(symbol, Relation):
                value = _truth(bool(found))
            elif found is None or found < 0:
                value = UNDEFINED
            elif found not in self._machine.individuals(symbol.result, self._universe):
                raise UnknownChoice(f"{symbol.name}{cell} is given as {found}, which is no {symbol.result.name}")
            else:
                value = self._element(symbol.result, found)
            if not cell:
                return value
            where = ", ".join(self._element(sort, index) for sort, index in zip(symbol.domain, cell, strict=True))
            entries.append(f"x = {where if len(cell) == 1 else f'<<{where}>>'} -> {value}")
        cases = " [] ".join(entries) or "TRUE -> 0"
        return f"[x \\in {self._writer.domain(symbol)} |-> CASE {cases}]"

    def _element(self, sort: Sort, index: int) -> str:
        if sort.kind is SortKind.ENUM:
            return _quote(sort.values[index])
        return str(index) if sort.kind is SortKind.ORDERED else self._individuals[sort.base, index]


def _about(symbol: Symbol) -> str:
    kind = "Given, never changes. " if symbol.rigid else "For the properties alone. " if symbol.ghost else ""
    return f"{kind}{symbol.doc}".strip() or f"{_kind(symbol)} of {', '.join(sort.name for sort in symbol.domain)}"


def _kind(symbol: Symbol) -> str:
    if isinstance(symbol, Function):
        return "Partial function" if symbol.partial else "Function"
    return "Relation"


def _declared(lines: list[tuple[str, str]]) -> Iterator[str]:
    width = max(len(name) for name, _ in lines) + 1
    for i, (name, doc) in enumerate(lines):
        comma = "," if i < len(lines) - 1 else ""
        yield f"  {name + comma:<{width}}  \\* {ascii_only(doc)}".rstrip()


def _comment(text: str) -> Iterator[str]:
    """Wrapped at the width of the module."""
    line = "\\*"
    for word in ascii_only(text).split():
        if len(line) + 1 + len(word) > _WIDTH:
            yield line
            line = "\\*"
        line += f" {word}"
    yield line


def _bullet(lines: list[str], comment: str) -> Iterator[str]:
    first, *rest = lines
    hung = [f"  /\\ {first}", *_indented(rest, "     ")]
    hung[-1] += f"  \\* {ascii_only(comment)}"
    yield from hung


def _indented(lines: list[str], by: str) -> Iterator[str]:
    yield from (by + line for line in lines)


def _quote(text: str) -> str:
    return f'"{text}"'


def _truth(value: bool) -> str:
    return "TRUE" if value else "FALSE"


def _always(condition: Formula) -> bool:
    return isinstance(condition, Lit) and condition.value


def _named(argument: Term, name: str) -> bool:
    return getattr(argument, "name", None) == name
