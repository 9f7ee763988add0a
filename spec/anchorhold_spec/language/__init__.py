"""The specification language: state machines that read like the rules they state.

A machine is a value (`Machine`), written down with a `MachineBuilder` and read in four ways: run, proved,
explored, published. One complete example, of a library that lends each book to one reader at a time::

    from anchorhold_spec.language import MachineBuilder, bound, exists, forall, safety

    m = MachineBuilder("lending", "Books are lent and come back.", rules={"LEN-1"}, alphabet={"lend", "return"})

    Book, Reader = m.sort("book", symmetric=True), m.sort("reader", symmetric=True)
    Place = m.enum("place", "shelf", "out")

    place = m.fun("place_of", Book, to=Place, initial=Place.shelf)
    lent = m.rel("lent", Book, Reader)
    desk = m.worker("desk", writes=[place, lent], doc="Lends and takes back.")

    b, r, other = Book("b"), Reader("r"), Reader("other")

    m.action(
        "lend", b, r, by=desk, event="lend",
        doc="A book on the shelf goes to a reader.",
        guards=[safety("on the shelf", place(b) == Place.shelf)],
        updates=[place(b).becomes(Place.out), lent(b, r).becomes(True)],
    )
    m.action(
        "take back", b, by=desk, event="return",
        doc="The book is nobody's again.",
        guards=[bound("out", place(b) == Place.out, "taking back what is here changes nothing")],
        updates=[place(b).becomes(Place.shelf), lent(b, r).becomes(False, each=r)],
    )
    m.invariant(
        "one reader", forall(b, r, other, (lent(b, r) & lent(b, other)) >> (r == other)),
        rules=["LEN-1"], doc="Nobody reads over another's shoulder.",
    )
    m.auxiliary("the shelf is full of nobody's books", forall(b, r, (place(b) == Place.shelf) >> ~lent(b, r)))
    m.sometimes("a book is out", exists(b, place(b) == Place.out))
    m.instance("small", books=2, readers=2)
    machine = m.build()

**Declarations.** `sort` (anonymous), `part` (of a sort; the parts are disjoint and make it up), `enum`, `ordered`
(`.zero`, `<`, `succ(a, b)`); state: `rel`, `pfun` (partial, at first undefined), `fun` (total, into an enum or
ordered sort); given data: `rigid_rel`, `rigid_fun`; `ghost=True` for history that only properties may read;
`switch` for variants of a design; `worker` for who acts and what they may write.

**Formulas.** `& | ~ >>`, `==` and `!=` (mind the parentheses: they bind weaker than `&`), `<`, `succ`, `.defined`,
`.one_of`, `part.has(term)`, `forall`, `exists`, `switch == "value"`, and in two-state properties `.next` and
`unchanged(symbol)`. A partial function that is undefined is equal to nothing, and `!=` is the negation of `==`.
Arguments are variables or constants: for a function of a function, take a parameter and a guard.

**Actions.** Parameters, guards (each a named conjunct: `safety`, or `bound`/`realism` with a reason), updates
(`place.becomes(value, when=…, each=…)`, `place.cleared(…)`), all read in the state before and written at once.

**Properties.** `invariant` (states rules), `auxiliary`, `transition` (two-state), `sometimes`, `can_end`, `axiom`.

**The tree** (`nodes`), the same for every reading. It is complete: a reading that handles these is total.

========== =======================================================================================
terms      `Var(name, sort)` · `Const(sort, index)` · `App(function, arguments, primed)`
formulas   `Lit(value)` · `Atom(relation, arguments, primed)` · `Defined(app)` · `Eq(left, right)` ·
           `Lt(left, right)` · `Succ(left, right)` · `Member(term, part)` · `SwitchIs(switch, value)` ·
           `Not(body)` · `And(parts)` · `Or(parts)` · `Implies(left, right)` · `Iff(left, right)` ·
           `ForAll(variables, body)` · `Exists(variables, body)`
updates    `Update(target, value, condition, bound)`
symbols    `Relation(name, domain, …)` · `Function(name, domain, result, partial, …)`
sorts      `Sort(name, kind, values, parent, …)` with kind plain, part, enum or ordered
========== =======================================================================================

`And` and `Or` hold any number of parts. `primed` is set only inside `Transition` formulas. Variables are told
apart by name within their scope; shadowing is refused. `walk` has children, free names, folding of switches and
structural comparison; `text.show` prints. Nodes overload `==`: never use `==`, `in`, `list.remove` or a
dictionary of nodes by value; nodes hash by identity.

**Finite instances.** Individuals are 0, 1, 2… (`Machine.universe(sizes)` counts them by the sort's name). A part is
a contiguous range of its parent's indices (`Machine.individuals`), and its individuals are always written with the
parent's indices. A state is a tuple of tables, one for each of `Machine.state_symbols` in order; a table is a flat
tuple, row-major over the domain; an entry is 0 or 1 for a relation, else the index of the value, -1 for undefined.
"""

from anchorhold_spec.language.builder import MachineBuilder, bound, realism, safety
from anchorhold_spec.language.errors import MalformedMachine, UnknownChoice
from anchorhold_spec.language.fragment import AlternationCycle, alternation_cycles
from anchorhold_spec.language.machine import (
    Action,
    Axiom,
    Guard,
    Invariant,
    Machine,
    Progress,
    Sometimes,
    Tag,
    Transition,
    Worker,
)
from anchorhold_spec.language.nodes import (
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
    Sort,
    SortKind,
    Succ,
    Switch,
    SwitchIs,
    Symbol,
    Term,
    Update,
    Var,
    exists,
    forall,
    succ,
    unchanged,
)
from anchorhold_spec.language.text import show, show_element, show_update

__all__ = [
    "Action",
    "AlternationCycle",
    "And",
    "App",
    "Atom",
    "Axiom",
    "Const",
    "Defined",
    "Eq",
    "Exists",
    "ForAll",
    "Formula",
    "Function",
    "Guard",
    "Iff",
    "Implies",
    "Invariant",
    "Lit",
    "Lt",
    "Machine",
    "MachineBuilder",
    "MalformedMachine",
    "Member",
    "Not",
    "Or",
    "Progress",
    "Relation",
    "Sometimes",
    "Sort",
    "SortKind",
    "Succ",
    "Switch",
    "SwitchIs",
    "Symbol",
    "Tag",
    "Term",
    "Transition",
    "UnknownChoice",
    "Update",
    "Var",
    "Worker",
    "alternation_cycles",
    "bound",
    "exists",
    "forall",
    "realism",
    "safety",
    "show",
    "show_element",
    "show_update",
    "succ",
    "unchanged",
]
