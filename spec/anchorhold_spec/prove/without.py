"""What is proved of a machine without one of its guards, and which auxiliary invariants that and the rest need.

A guard that is tagged `bound` or `realism` is said to be there for no rule's sake. That nothing breaks without it at
small sizes is a hint and no more. So it is left out, and every rule is proved again, for every size. Auxiliary
invariants may break without the guard: what was proved by their help has to be proved by the help of others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from anchorhold_spec.language import Action, Invariant, Machine, Tag, Transition
from anchorhold_spec.prove.inductive import Inductive, Place, settle
from anchorhold_spec.prove.obligations import INITIALLY, Obligation, Prover, Result
from anchorhold_spec.run import GuardId


@dataclass(frozen=True)
class WithoutGuard:
    """What became of the proofs without one guard."""

    guard: GuardId
    failed: Mapping[str, str]
    """The rules' properties that could not be proved, each with its first obligation that failed; none: proved."""
    used: frozenset[str]
    """The invariants that the proofs use."""

    @property
    def proved(self) -> bool:
        """Every property that states a rule holds without the guard, at every size."""
        return not self.failed


class WithoutGuards:
    """The proofs of one machine without each of its tagged guards in turn.

    `obligations` are all its proofs with every guard in place. Only what used the guard is proved again.
    """

    def __init__(self, prover: Prover, obligations: Collection[Obligation]) -> None:
        self._prover = prover
        self._proofs = [each for each in obligations if each.result is Result.PROVED]
        properties: tuple[Invariant | Transition, ...] = (*prover.machine.invariants, *prover.machine.transitions)
        self._wanted = tuple(each.name for each in properties if each.rules)

    def __iter__(self) -> Iterator[WithoutGuard]:
        for action in self._prover.machine.actions:
            for guard in action.guards:
                if guard.tag is not Tag.SAFETY:
                    yield self.one(GuardId(action.name, guard.name))

    def one(self, guard: GuardId, *, barred: Collection[str] = ()) -> WithoutGuard:
        """Without this guard. `barred`: invariants that may not be used either."""
        actions = tuple(
            _weaker(action, guard.guard) if action.name == guard.action else action
            for action in self._prover.machine.actions
        )
        known: dict[Place, frozenset[str]] = {
            (each.action, each.property): each.used
            for each in self._proofs
            if each.action == INITIALLY or each.action != guard.action or guard.guard not in each.guards
        }
        found: Inductive = settle(self._prover, actions, wanted=self._wanted, known=known, barred=barred)
        failed = {name: why for name, why in found.failed.items() if name in self._wanted}
        return WithoutGuard(guard, failed, found.proved)


def _weaker(action: Action, guard: str) -> Action:
    return replace(action, guards=tuple(each for each in action.guards if each.name != guard))


def needless_auxiliaries(
    machine: Machine,
    obligations: Collection[Obligation],
    *,
    timeout: float,
    prover: Prover | None = None,
    without: Collection[WithoutGuard] = (),
) -> tuple[str, ...]:
    """Auxiliary invariants without which everything else still proves: they should be removed.

    One at a time, in order of declaration; one that was found needless stays out when the next is tried. `without`:
    what was proved without guards, which has to stay proved, too.
    """
    prover = prover or Prover(machine, timeout=timeout)
    claims: dict[str, Invariant | Transition] = {each.name: each for each in prover.machine.invariants}
    claims.update({each.name: each for each in prover.machine.transitions})
    needless: list[str] = []
    used = {(each.action, each.property): each.used for each in obligations if each.action != INITIALLY}
    weaker = {each.guard: each for each in without if each.proved}
    again = WithoutGuards(prover, obligations)
    for invariant in prover.machine.invariants:
        if invariant.public:
            continue
        out = [*needless, invariant.name]
        retried: dict[Place, Obligation] = {}
        for (action, name), names in used.items():
            if invariant.name in names and name not in out:
                obligation = prover.consecution(prover.machine.action(action), claims[name], without=out)
                if obligation.result is not Result.PROVED:
                    break
                retried[action, name] = obligation
        else:
            others = {
                each.guard: again.one(each.guard, barred=out)
                for each in weaker.values()
                if invariant.name in each.used
            }
            if all(each.proved for each in others.values()):
                needless.append(invariant.name)
                used.update({place: each.used for place, each in retried.items()})
                weaker.update(others)
    return tuple(needless)
