"""From formulas and updates to lines of code over packed words.

Every function that is generated has a `Body`. A formula without quantifiers becomes one expression; a quantifier
becomes nested loops that end as soon as the answer is known. Quantifiers, parameters of actions and bound
variables of updates all go through `Body.choose`: it tests each conjunct as soon as its variables are bound, and
where a conjunct says what a variable is (`home(s) == k`), it reads the variable instead of looping over its sort.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from anchorhold_spec.explore.config import Config
from anchorhold_spec.explore.layout import WORD, Layout, Place
from anchorhold_spec.language import (
    And,
    App,
    Atom,
    Const,
    Defined,
    Eq,
    Exists,
    ForAll,
    Formula,
    Function,
    Iff,
    Implies,
    Lit,
    Lt,
    Member,
    Not,
    Or,
    Relation,
    SortKind,
    Succ,
    SwitchIs,
    Symbol,
    Term,
    Update,
    Var,
)
from anchorhold_spec.language.walk import free_names, nodes, same
from anchorhold_spec.run import Table

Env = Mapping[str, str]
"""Names of the machine's variables to names in the code."""

STEP = "    "

ALL, ANY = " ∧ ", " ∨ "
"""Connectives as they stand in generated text: see `connected`. Their operands are names or in parentheses."""


def connected(text: str, *, branching: bool) -> str:
    """Text that Python reads. Compiled code works out every part of a condition: that costs a few operations, and a
    branch that is mispredicted costs many. The interpreter has no such trouble, and stops as soon as it knows.

    Nothing needs the parts before it to hold: an undefined value is a number like others, and places are only looked
    up with individuals that are in their sort.
    """
    return text.replace(ALL, " and " if branching else " & ").replace(ANY, " or " if branching else " | ")


@dataclass(frozen=True)
class Test:
    """A conjunct, and the expression that says whether it is left out (none: never)."""

    formula: Formula
    dropped: str | None = None


@dataclass
class Tables:
    """Given rigid data that is too large for a literal: becomes constants of the module."""

    instance_tables: Mapping[str, Table]
    """By the symbol's name."""
    constants: dict[str, str] = field(default_factory=dict)
    """Names in the code to their definitions."""


class Body:
    """Code of one function. `src[row, …]` is the state before, `out[after, …]` the state after."""

    def __init__(self, layout: Layout, config: Config, tables: Tables, *, after: str = "m") -> None:
        self._layout = layout
        self._config = config
        self._tables = tables
        self._after = after
        self._lines: list[str] = []
        self._depth = 1
        self._count = 0
        self._words: set[int] = set()
        self._next_words: set[int] = set()
        self._settings: set[int] = set()

    # Text

    def line(self, text: str) -> None:
        """Adds a line at the present depth."""
        self._lines.append(STEP * self._depth + text)

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """`header:` and what is written meanwhile under it."""
        self.line(f"{header}:")
        self._depth += 1
        mark = len(self._lines)
        yield
        if len(self._lines) == mark:
            self.line("pass")
        self._depth -= 1

    def fresh(self, prefix: str) -> str:
        """A name that is not used yet."""
        self._count += 1
        return f"{prefix}{self._count}"

    def text(self, header: str, *, entry: bool = False) -> list[str]:
        """The function: header, the words and settings that it reads, its lines. `entry`: Python calls it too."""
        loads = [f"w{word} = src[row, {word}]" for word in sorted(self._words)]
        loads += [f"v{word} = out[{self._after}, {word}]" for word in sorted(self._next_words)]
        loads += [f"c{i} = cfg[{i}]" for i in sorted(self._settings)]
        return [
            "@jit" if entry else "@inner",
            f"{header}:",
            *(STEP + load for load in loads),
            *(self._lines or [STEP + "pass"]),
        ]

    # Reading

    def word(self, word: int, *, primed: bool = False) -> str:
        """A word of the state, loaded once."""
        (self._next_words if primed else self._words).add(word)
        return f"{'v' if primed else 'w'}{word}"

    def setting(self, i: int) -> str:
        """A word of the run-time settings, loaded once."""
        self._settings.add(i)
        return f"c{i}"

    def bit(self, i: int) -> str:
        """A bit of the run-time settings, as a condition."""
        return f"((c{self._bit_word(i)} >> {i % WORD}) & 1) != 0"

    def _bit_word(self, i: int) -> int:
        self._settings.add(i // WORD)
        return i // WORD

    def index(self, place: Place, arguments: Sequence[str]) -> str | int:
        """Position in a table."""
        constant = 0
        parts: list[str] = []
        stride = place.entries
        for argument, dim, offset in zip(arguments, place.dims, place.offsets, strict=True):
            stride = stride // dim if dim else 0
            constant -= offset * stride
            if argument.isdigit():
                constant += int(argument) * stride
            elif stride:
                parts.append(argument if stride == 1 else f"{argument} * {stride}")
        if not parts:
            return constant
        return " + ".join(parts) + (f" + {constant}" if constant > 0 else f" - {-constant}" if constant else "")

    def shift(self, place: Place, index: str | int) -> str:
        """Of the entry in its word."""
        if isinstance(index, int):
            return str(place.shift + index % place.per_word * place.width)
        inner = f"({index}) % {place.per_word}" if place.spread else f"({index})"
        scaled = inner if place.width == 1 else f"{inner} * {place.width}"
        return f"({place.shift} + {scaled})" if place.shift else f"({scaled})"

    def row_word(self, place: Place, index: str | int) -> str:
        """Which word of its row a spread table's entry is in."""
        if isinstance(index, int):
            return str(place.word + index // place.per_word)
        return f"{place.word} + ({index}) // {place.per_word}"

    def raw(self, symbol: Symbol, arguments: Sequence[str], *, primed: bool = False) -> str:
        """An entry as stored."""
        if symbol.rigid and symbol.given is not None:
            return self._constant(symbol, arguments)
        place = self._layout.place(symbol)
        if not place.width:
            return "0"
        index = self.index(place, arguments)
        if place.spread:
            row = f"out[{self._after}, " if primed else "src[row, "
            word = f"{row}{self.row_word(place, index)}]"
        else:
            word = self.word(place.word, primed=primed)
        return f"(({word} >> {self.shift(place, index)}) & {place.mask})"

    def _constant(self, symbol: Symbol, arguments: Sequence[str]) -> str:
        ranges = [self._layout.individuals(sort) for sort in symbol.domain]
        partial = isinstance(symbol, Function) and symbol.partial
        table = [value + partial for value in self._tables.instance_tables[symbol.name]]
        width = max(max(table, default=0).bit_length(), 1)
        place = Place(
            symbol,
            tuple(len(each) for each in ranges),
            tuple(each.start for each in ranges),
            width,
            partial,
            0,
            0,
            max(len(table), 1),
        )
        index = self.index(place, arguments)
        if len(table) * width <= WORD:
            literal = sum(value << (i * width) for i, value in enumerate(table))
            return f"(({hex(literal)} >> {self.shift(place, index)}) & {place.mask})"
        name = f"G_{len(self._tables.constants)}"
        for known, definition in self._tables.constants.items():
            if definition == repr(tuple(table)):
                name = known
        self._tables.constants[name] = repr(tuple(table))
        return f"{name}[{index}]"

    def term(self, term: Term, env: Env) -> str:
        """The index of the individual; -1 where undefined."""
        match term:
            case Var(name=name):
                return env[name]
            case Const(index=index):
                return str(index)
            case App(function=function, arguments=arguments, primed=primed):
                raw = self.raw(function, [self.term(each, env) for each in arguments], primed=primed)
                return f"({raw} - 1)" if function.partial else raw
            case _:
                raise TypeError(f"{type(term).__name__} is no term")

    # Formulas

    def expression(self, formula: Formula, env: Env) -> str | None:
        """A formula without quantifiers as one expression; none where it has some."""
        if any(isinstance(node, ForAll | Exists) for node in nodes(formula)):
            return None
        return self._expression(formula, env)

    def _expression(self, formula: Formula, env: Env) -> str:
        match formula:
            case Lit(value=value):
                return str(value)
            case SwitchIs(switch=switch, value=value):
                return f"({self.setting(self._config.switch(switch.name))} == {switch.values.index(value)})"
            case Atom(relation=relation, arguments=arguments, primed=primed):
                return f"({self.raw(relation, [self.term(each, env) for each in arguments], primed=primed)} != 0)"
            case Defined(app=app):
                cell = [self.term(each, env) for each in app.arguments]
                return f"({self.raw(app.function, cell, primed=app.primed)} != 0)"
            case Eq(left=left, right=right):
                both = _may_be_undefined(left) and _may_be_undefined(right)
                return self._comparison(left, right, env, "{0} == {1}", check=both)
            case Lt(left=left, right=right):
                return self._comparison(left, right, env, "{0} < {1}", check=_may_be_undefined(left))
            case Succ(left=left, right=right):
                return self._comparison(left, right, env, "{0} + 1 == {1}", check=_may_be_undefined(left))
            case Member(term=term, part=part):
                individuals = self._layout.individuals(part)
                value = self.term(term, env)
                return f"({within(value, individuals)})"
            case Not(body=body):
                return f"(not {self._expression(body, env)})"
            case And(parts=parts):
                return f"({ALL.join(self._expression(part, env) for part in parts) or 'True'})"
            case Or(parts=parts):
                if (one_of := _one_of(parts)) is not None:
                    # One test of a bit for several values: less to compile, and nothing to mispredict.
                    term, values = one_of
                    shift = f"{self.term(term, env)} + 1" if _may_be_undefined(term) else self.term(term, env)
                    mask = sum(1 << (value + _may_be_undefined(term)) for value in values)
                    return f"((({mask} >> ({shift})) & 1) != 0)"
                return f"({ANY.join(self._expression(part, env) for part in parts) or 'False'})"
            case Implies(left=premise, right=conclusion):
                return f"((not {self._expression(premise, env)}){ANY}{self._expression(conclusion, env)})"
            case Iff(left=premise, right=conclusion):
                return f"({self._expression(premise, env)} == {self._expression(conclusion, env)})"
            case _:
                raise TypeError(f"{type(formula).__name__} has no code")

    def _comparison(self, left: Term, right: Term, env: Env, pattern: str, *, check: bool) -> str:
        a, b = self.term(left, env), self.term(right, env)
        compared = f"({pattern.format(a, b)})"
        return f"({compared}{ALL}({a} >= 0))" if check else compared

    def assign(self, target: str, formula: Formula, env: Env) -> None:
        """Writes code that leaves the truth of a formula in `target`."""
        expression = self.expression(formula, env)
        if expression is not None:
            self.line(f"{target} = {expression}")
            return
        match formula:
            case Not(body=body):
                self.assign(target, body, env)
                self.line(f"{target} = not {target}")
            case And(parts=parts):
                self._join(target, parts, env, "True", f"if {target}")
            case Or(parts=parts):
                self._join(target, parts, env, "False", f"if not {target}")
            case Implies(left=premise, right=conclusion):
                self._join(target, (Not(premise), conclusion), env, "False", f"if not {target}")
            case Iff(left=premise, right=conclusion):
                one, other = self.fresh("q"), self.fresh("q")
                self.assign(one, premise, env)
                self.assign(other, conclusion, env)
                self.line(f"{target} = {one} == {other}")
            case Exists(variables=variables, body=body):
                self._search(target, variables, body, env, found=True)
            case ForAll(variables=variables, body=body):
                self._search(target, variables, Not(body), env, found=False)
            case _:
                raise TypeError(f"{type(formula).__name__} has no code")

    def _join(self, target: str, parts: Sequence[Formula], env: Env, neutral: str, header: str) -> None:
        plain = [text for part in parts if (text := self.expression(part, env)) is not None]
        self.line(f"{target} = {(ALL if neutral == 'True' else ANY).join(plain) or neutral}")
        for part in parts:
            if self.expression(part, env) is None:
                with self.block(header):
                    self.assign(target, part, env)

    def _search(self, target: str, variables: Sequence[Var], body: Formula, env: Env, *, found: bool) -> None:
        self.line(f"{target} = {not found}")

        def hit(_env: Env, loops: int) -> None:
            self.line(f"{target} = {found}")
            if loops:
                self.line("break")

        stop = target if found else f"not {target}"
        self.choose(variables, [Test(part) for part in conjuncts(body)], env, hit, stop=stop)

    # Choosing individuals

    def choose(
        self,
        variables: Sequence[Var],
        tests: Sequence[Test],
        env: Env,
        inner: Callable[[Env, int], None],
        *,
        stop: str | None = None,
        loops: int = 0,
    ) -> None:
        """Code that runs `inner` for all individuals for which the tests hold; `stop` ends it early.

        `inner` gets the environment and the number of loops of this choice around it.
        """
        ready = [test for test in tests if all(name in env for name in free_names(test.formula))]
        waiting = [test for test in tests if all(test is not each for each in ready)]
        with ExitStack() as nest:
            plain = [(test, text) for test in ready if (text := self.expression(test.formula, env)) is not None]
            if plain:
                condition = ALL.join(
                    text if test.dropped is None else f"(({test.dropped}){ANY}{text})" for test, text in plain
                )
                nest.enter_context(self.block(f"if {condition}"))
            for test in ready:
                if self.expression(test.formula, env) is None:
                    truth = self.fresh("q")
                    if test.dropped is None:
                        self.assign(truth, test.formula, env)
                    else:
                        self.line(f"{truth} = {test.dropped}")
                        with self.block(f"if not {truth}"):
                            self.assign(truth, test.formula, env)
                    nest.enter_context(self.block(f"if {truth}"))
            if not variables:
                inner(env, loops)
                return
            variable, definition = self._pick(variables, waiting, env)
            rest = [each for each in variables if each is not variable]
            left = [each for each in waiting if each is not definition]
            name = self.fresh("x")
            bound = {**env, variable.name: name}
            individuals = self._layout.individuals(variable.sort)
            if definition is not None and definition.dropped is None:
                value, certain = self._value(definition.formula, variable, env)
                self.line(f"{name} = {value}")
                with ExitStack() as inside:
                    if not certain:
                        inside.enter_context(self.block(f"if {within(name, individuals)}"))
                    self.choose(rest, left, bound, inner, stop=stop, loops=loops)
                return
            header = f"for {name} in range({individuals.start}, {individuals.stop})"
            if definition is not None:
                header = f"for {name} in range({self._range(definition, variable, env)})"
            with self.block(header):
                self.choose(rest, left, bound, inner, stop=stop, loops=loops + 1)
            if stop is not None and loops:
                with self.block(f"if {stop}"):
                    self.line("break")

    def _range(self, test: Test, variable: Var, env: Env) -> str:
        """The one individual that a test allows, or all of them while the test is left out."""
        individuals = self._layout.individuals(variable.sort)
        start, end = self.fresh("a"), self.fresh("b")
        with self.block(f"if {test.dropped}"):
            self.line(f"{start} = {individuals.start}")
            self.line(f"{end} = {individuals.stop}")
        with self.block("else"):
            self.line(f"{start} = {self._value(test.formula, variable, env)[0]}")
            self.line(f"{end} = {start} + 1")
            with self.block(f"if {start} < {individuals.start} or {start} >= {individuals.stop}"):
                self.line(f"{end} = {start}")
        return f"{start}, {end}"

    def _pick(self, variables: Sequence[Var], tests: Sequence[Test], env: Env) -> tuple[Var, Test | None]:
        for variable in variables:
            for test in tests:
                if _defining(test.formula, variable, env) is not None:
                    return variable, test
        return variables[0], None

    def _value(self, formula: Formula, variable: Var, env: Env) -> tuple[str, bool]:
        """What a defining test says the variable is, and whether that is sure to be in its sort."""
        found = _defining(formula, variable, env)
        assert found is not None, "only defining tests are asked"
        term, offset = found
        value = self.term(term, env)
        if offset:
            return f"{value} {'+' if offset > 0 else '-'} 1", False
        sort = term.function.result if isinstance(term, App) else term.sort if isinstance(term, Var | Const) else None
        certain = sort is variable.sort and not _may_be_undefined(term)
        return value, certain

    # Updates

    def write(self, update: Update, env: Env) -> None:
        """Code for one update: into the locals `n…` of the new words, or into the new row for spread tables."""
        self.choose(
            update.bound,
            [Test(part) for part in conjuncts(update.condition)],
            env,
            lambda inner, _loops: self._store(update, inner),
        )

    def _store(self, update: Update, env: Env) -> None:
        place = self._layout.place(update.symbol)
        if not place.width:
            return
        value = self._new_value(update, env)
        index = self.index(place, [self.term(each, env) for each in update.target.arguments])
        shift = self.shift(place, index)
        if not shift.isdigit():
            name = self.fresh("h")
            self.line(f"{name} = {shift}")
            shift = name
        target = f"n{place.word}"
        if place.spread:
            target = f"out[n, {self.row_word(place, index)}]"
        if value == "0":
            self.line(f"{target} = {target} & ~({place.mask} << {shift})")
        elif value == "1" and place.width == 1:
            self.line(f"{target} = {target} | (1 << {shift})")
        else:
            self.line(f"{target} = ({target} & ~({place.mask} << {shift})) | ({value} << {shift})")

    def _new_value(self, update: Update, env: Env) -> str:
        value = update.value
        if value is None:
            return "0"
        if isinstance(value, Formula):
            if isinstance(value, Lit):
                return str(int(value.value))
            expression = self.expression(value, env)
            if expression is None:
                expression = self.fresh("q")
                self.assign(expression, value, env)
            return f"(1 if {expression} else 0)"
        symbol = update.symbol
        text = self.term(value, env)
        if isinstance(symbol, Relation) or not symbol.partial:
            return text
        return str(int(text) + 1) if text.isdigit() else f"({text} + 1)"


def within(value: str, individuals: range) -> str:
    """The condition that a value is an individual's."""
    return f"({value} >= {individuals.start}){ALL}({value} < {individuals.stop})"


def conjuncts(formula: Formula) -> list[Formula]:
    """The formula as conjuncts, negations pushed inwards as far as that gives more of them."""
    match formula:
        case Lit(value=True) | Not(body=Lit(value=False)):
            return []
        case And(parts=parts):
            return [each for part in parts for each in conjuncts(part)]
        case Not(body=Not(body=body)):
            return conjuncts(body)
        case Not(body=Or(parts=parts)):
            return [each for part in parts for each in conjuncts(Not(part))]
        case Not(body=Implies(left=premise, right=conclusion)):
            return [*conjuncts(premise), *conjuncts(Not(conclusion))]
        case Not(body=ForAll(variables=variables, body=body)):
            return [Exists(variables, Not(body))]
        case Not(body=Exists(variables=variables, body=body)):
            return [ForAll(variables, Not(body))]
        case _:
            return [formula]


def _one_of(parts: Sequence[Formula]) -> tuple[Term, set[int]] | None:
    """`term == a | term == b | …` with constants that fit into one word of bits."""
    if len(parts) < 2:
        return None
    values: set[int] = set()
    first: Term | None = None
    for part in parts:
        if not isinstance(part, Eq) or not isinstance(part.right, Const) or part.right.index >= WORD - 2:
            return None
        if part.right.sort.kind is not SortKind.ENUM or len(part.right.sort.values) >= WORD - 2:
            return None
        if first is None:
            first = part.left
        elif not same(first, part.left):
            return None
        values.add(part.right.index)
    return None if first is None else (first, values)


def _may_be_undefined(term: Term) -> bool:
    return isinstance(term, App) and term.function.partial


def _defining(formula: Formula, variable: Var, env: Env) -> tuple[Term, int] | None:
    """`formula` says that the variable is this term, plus or minus one; none where it does not."""
    if not isinstance(formula, Eq | Succ):
        return None
    for own, other, offset in ((formula.right, formula.left, 1), (formula.left, formula.right, -1)):
        if not isinstance(own, Var) or own.name != variable.name:
            continue
        if isinstance(other, Var) and other.name == variable.name:
            continue
        if not all(name in env for name in free_names(other)):
            continue
        if isinstance(formula, Eq):
            return other, 0
        # An undefined term is -1: one more would be the least element, one less is out of range as it should be.
        if offset < 0 or not _may_be_undefined(other):
            return other, offset
    return None
