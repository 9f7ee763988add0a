"""Turns as agents really exchange them, with facts planted in them that can be found again word for word.

Everything comes from one seed. A statement is a single sentence of one of the forms

    The {attribute} of {subject} is {value}.
    {subject}: {attribute} = {value}.
    The {attribute} of {subject} is not {value}.

so that a compactor that computes manifests has something that it can compute, and no value, name or sentence is used
twice unless a scenario asks for it.

Beside the statements there are *loose* facts, as transcripts are full of them: a path, number, time or name in the
middle of a sentence, words that somebody is quoted with, a row of a table, a JSON object, an argument of a tool call.
They have no slot that could be asked for, only a literal: whoever keeps nothing but sentences of the forms above
loses them.
"""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from anchorhold.workload import Append
from anchorhold_spec.vocabulary import Fact, ToolCall, Turn

ARGUMENT = "argument"
"""Kind of a fact that stands in the arguments of a tool call, and nowhere else."""

EPOCH = 1_790_000_000.0
"""The suite's clock starts here: some day in 2026, so that times look like times."""
SECONDS_A_TURN = 45.0

SERVICES = (
    "kestrel",
    "argus",
    "meridian",
    "halyard",
    "tamarind",
    "osprey",
    "quillon",
    "basalt",
    "ferrule",
    "lantern",
)
PARTS = ("gateway", "ingest", "ledger", "scheduler", "relay", "indexer", "mailer", "resolver")
PEOPLE = ("Mirela", "Okafor", "Tanaka", "Lindqvist", "Abara", "Novak", "Castellan", "Yusuf", "Petrov", "Marchetti")
PLACES = ("srv", "mnt", "opt", "var/lib", "etc")
ENDINGS = ("d", "yaml", "sock", "log")
UNITS = ("ms", "s", "MiB", "GiB", "req/s", "percent")

PATH_ATTRIBUTES = ("deploy target", "config file", "data directory", "log file", "socket path")
NUMBER_ATTRIBUTES = ("memory limit", "request timeout", "queue bound", "rate limit", "cache size")
IDENTIFIER_ATTRIBUTES = ("build tag", "lease id", "ticket", "image digest", "owner token")
PORT_ATTRIBUTES = ("listen port", "admin port", "metrics port")
NEGATED_ATTRIBUTES = ("rollback", "failover", "approval", "migration", "backup")
ATTRIBUTES = (
    *PATH_ATTRIBUTES,
    *NUMBER_ATTRIBUTES,
    *IDENTIFIER_ATTRIBUTES,
    *PORT_ATTRIBUTES,
    *NEGATED_ATTRIBUTES,
)

ASIDES = (
    "Let me know if anything looks off from your side.",
    "I would rather go slowly here than break something that works.",
    "That matches what the dashboard seemed to say.",
    "Same pattern as in the earlier rollout, as far as anybody can tell.",
    "Nobody has touched this since the last review.",
    "We should write this up once the dust has settled.",
    "I am reading through the output now and will come back to it.",
    "It may be worth asking the people on call before going further.",
    "Otherwise the picture has not changed much.",
    "The graphs look calm again, for whatever that is worth.",
)
ASKS = (
    "Can you look into {topic} next?",
    "Please go on with {topic}.",
    "What do we know about {topic} by now?",
    "Before you continue, have a look at {topic}.",
    "I keep getting questions about {topic}, so let us settle it.",
)
REPLIES = (
    "I went through {topic} and it seems to behave.",
    "Looking at {topic} now, nothing surprising yet.",
    "As for {topic}, the first round of checks is through.",
    "I have compared {topic} with what we had before.",
    "Done with the first part of {topic}.",
)
RESULTS = (
    "check of {topic}: completed, no anomalies reported.",
    "{topic}: scan finished, output follows in the log.",
    "inspected {topic}; state consistent with the previous run.",
    "{topic} answered; latency within the usual range.",
)
TOPICS = (
    "the rollout", "the ingestion lag", "the nightly sweep", "the retry storm", "the stale cache",
    "the certificate renewal", "the slow query", "the alert noise", "the replica drift", "the staging cluster",
    "the queue backlog", "the flaky probe", "the rate limiter", "the log rotation", "the schema change",
    "the blue pool", "the canary", "the failing health check", "the import job", "the permission review",
)  # fmt: skip
WORDS = (
    "amber", "birch", "cobalt", "dune", "ember", "fern", "garnet", "hazel", "indigo", "juniper", "kelp", "larch",
    "maple", "nettle", "ochre", "pine", "quartz", "rowan", "sable", "teal", "umber", "violet", "willow", "yarrow",
)  # fmt: skip
LOOSE = {
    "path": "Somebody had left the dump under {} before the restart.",
    "number": "It took a good {} until the first shard answered again.",
    "timestamp": "The page came in at {}, and a second one shortly after.",
    "quotation": '{who} wrote: "{}", and left it at that.',
    "entity": "After some digging {} turned out to be where the reconnects come from.",
    "identifier": '{{"lease": "{}", "holder": "{who}", "renewals": {count}}}',
    "row": "| {who} | {} | {word} |",
}
"""Ways of saying something outside the forms, each with the kind of its literal, which stands at `{}`.

A row's literal is a number. JSON and rows stand on a line of their own.
"""
ARGUMENTS = {"path": "path", "since": "timestamp", "lease": "identifier", "command": "command", "filter": "number"}
"""Names of tool arguments, and what they hold."""
TOOLS = ("inspect", "read_log", "query_metrics", "list_jobs")
KINDS = ("path", "number", "identifier", "port", "negation")


class Planter:
    """Makes turns and facts from a seed; stateful, because nothing may be said twice by accident."""

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(f"anchorhold:{seed}")  # noqa: S311 - not for secrets: replayable on purpose
        self._turns = 0
        self._calls = 0
        self._loose = 0
        self._arguments = 0
        self._used: set[str] = set()

    # Facts

    def fact(self, kind: str | None = None, *, subject: str | None = None, attribute: str | None = None) -> Fact:
        """A new statement: `kind` is one of `KINDS`, or `hedge`; any of `KINDS` where none is named."""
        kind = kind or self._random.choice(KINDS)
        subject = subject or self.subject()
        attribute = attribute or self._attribute(kind)
        value = self._fresh(lambda: self._value(kind))
        return statement(kind, subject=subject, attribute=attribute, value=value, form=self._random.randrange(2))

    def loose(self, kind: str | None = None) -> Fact:
        """A fact outside the forms; `kind` is a key of `LOOSE`, or each of them in turn."""
        if kind is None:
            kind = list(LOOSE)[self._loose % len(LOOSE)]
            self._loose += 1
        value_kind = "number" if kind == "row" else kind
        literal = self._fresh(lambda: self._value(value_kind))
        text = LOOSE[kind].format(
            literal,
            who=self._random.choice(PEOPLE),
            word=self._random.choice(WORDS),
            count=self._random.randrange(2, 90),
        )
        return Fact(text=text, literal=literal, kind=value_kind)

    def argument(self, name: str | None = None) -> Fact:
        """A fact that only an argument of a tool call holds; `name` is a key of `ARGUMENTS`. See `call`."""
        if name is None:
            name = list(ARGUMENTS)[self._arguments % len(ARGUMENTS)]
            self._arguments += 1
        literal = self._fresh(lambda: self._value(ARGUMENTS[name]))
        return Fact(text=json.dumps({name: literal})[1:-1], literal=literal, kind="argument")

    def loose_facts(self, count: int) -> tuple[Fact, ...]:
        """Facts outside the forms: each kind in turn, and one of a tool call's arguments among them."""
        return (*(self.loose() for _ in range(count - 1)), *(self.argument() for _ in range(min(1, count))))

    def again(self, fact: Fact) -> Fact:
        """The same slot, asserted anew with another value."""
        kind = "port" if fact.attribute in PORT_ATTRIBUTES else fact.kind
        return self.fact(kind, subject=fact.subject, attribute=fact.attribute)

    def sibling(self, fact: Fact) -> Fact:
        """The same attribute of something with nearly the same name: a neighbour to be mistaken for the other."""
        kind = "port" if fact.attribute in PORT_ATTRIBUTES else fact.kind
        return self.fact(kind, subject=self.near(fact.subject or self.subject()), attribute=fact.attribute)

    def near(self, subject: str) -> str:
        """A name that differs from this one in its last character or two."""
        stem, _, tail = subject.rpartition("-")
        if tail.isdigit():
            return self._fresh(lambda: f"{stem}-{int(tail) + self._random.choice((-3, -2, -1, 1, 2, 3, 10, 11))}")
        return self._fresh(lambda: f"{subject}-{self._random.choice('bcdefgh')}")

    def subject(self) -> str:
        """A name that was not used yet: a service, a job, an incident."""
        choice = self._random.randrange(3)
        if choice == 0:
            return self._fresh(lambda: f"job J-{self._random.randrange(100, 999)}")
        if choice == 1:
            return self._fresh(lambda: f"incident INC-{self._random.randrange(2000, 9000)}")
        return self._fresh(
            lambda: f"{self._random.choice(SERVICES)}-{self._random.choice(PARTS)}-{self._random.randrange(11, 89)}"
        )

    def _attribute(self, kind: str) -> str:
        return self._random.choice(
            {
                "path": PATH_ATTRIBUTES,
                "number": NUMBER_ATTRIBUTES,
                "identifier": IDENTIFIER_ATTRIBUTES,
                "port": PORT_ATTRIBUTES,
                "negation": NEGATED_ATTRIBUTES,
                "hedge": NUMBER_ATTRIBUTES,
            }[kind]
        )

    def _value(self, kind: str) -> str:
        pick, number = self._random.choice, self._random.randrange
        if kind == "path":
            return f"/{pick(PLACES)}/{pick(SERVICES)}/{pick(PARTS)}{number(100, 999)}.{pick(ENDINGS)}"
        if kind in ("number", "hedge"):
            return f"{number(1001, 99_999)} {pick(UNITS)}"
        if kind == "port":
            return str(number(10_240, 60_999))
        if kind == "identifier":
            return f"{pick('bdfhkmrtvz')}{number(16**6, 16**7):x}"
        if kind == "timestamp":
            return f"2026-{number(1, 12):02}-{number(1, 28):02}T{number(24):02}:{number(60):02}:{number(60):02}Z"
        if kind == "quotation":
            return f"keep the {pick(WORDS)} {pick(PARTS)} cold until round {number(100, 9999)}"
        if kind == "entity":
            return f"{pick(SERVICES)}-{pick(PARTS)}-{number(100, 999)}"
        if kind == "command":
            return f"tail -n {number(101, 999)} /{pick(PLACES)}/{pick(SERVICES)}{number(100, 999)}.log"
        return f"owned by {pick(PEOPLE)} since round {number(100, 999)}"

    def _fresh(self, make: Callable[[], str]) -> str:
        for _ in range(10_000):
            made = make()
            if made not in self._used:
                self._used.add(made)
                return made
        raise RuntimeError("ran out of names; ask for fewer facts")

    # Turns

    def say(self, *facts: Fact, speaker: str | None = None, size: int = 200) -> Append:
        """One turn that asserts these facts, of about `size` characters."""
        speaker = speaker or self._random.choice(("user", "assistant"))
        topic = self._random.choice(TOPICS)
        openings = {"user": ASKS, "assistant": REPLIES, "tool": RESULTS}.get(speaker, REPLIES)
        parts = [self._random.choice(openings).format(topic=topic), *(fact.text for fact in facts)]
        asides = list(ASIDES)
        self._random.shuffle(asides)
        while asides and sum(map(len, parts)) < size:
            parts.insert(self._random.randrange(1, len(parts) + 1), asides.pop())
        # A note of the turn's own makes its text unlike every other, so that one can be told from another.
        parts.append(f"(note {self._note()})")
        return self.utter(_join(parts), *facts, speaker=speaker)

    def utter(self, text: str, *facts: Fact, speaker: str = "user") -> Append:
        """One turn with exactly this text."""
        return Append(turn=self._turn(speaker, text=text), facts=facts)

    def attach(self, data: bytes, *facts: Fact, speaker: str = "user") -> Append:
        """One turn whose content is these bytes."""
        turn = self._turn(speaker, text=None)
        return Append(turn=replace(turn, data=data), facts=facts)

    def named(self, append: Append, name: str) -> Append:
        """The same turn under another id."""
        return Append(turn=replace(append.turn, id=name), facts=append.facts)

    def marked(self, append: Append, status: str) -> Append:
        """The same turn with a status: `consumed`, `killed`, `unfinished`."""
        return Append(turn=replace(append.turn, status=status), facts=append.facts)

    def protect(self, append: Append) -> Append:
        """The same turn, which has to stay in the window word for word."""
        return Append(turn=replace(append.turn, protected=True), facts=append.facts)

    def declare(self, append: Append, evidential_class: str) -> Append:
        """The same turn, whose author declares it to be of a class (EVI-4)."""
        return Append(turn=replace(append.turn, declared=evidential_class), facts=append.facts)

    def batch(self, count: int, *facts: Fact) -> tuple[Append, tuple[Append, ...]]:
        """A turn that makes several calls at once, and their results; the facts go to them in turn. See `call`."""
        pairs = [self.call(*facts[number::count]) for number in range(count)]
        calls = tuple(call for asking, _ in pairs for call in asking.turn.calls)
        asking = self._turn("assistant", text=f"Doing these together (note {self._note()}).", calls=calls)
        given = tuple(fact for one, _ in pairs for fact in one.facts)
        return Append(turn=asking, facts=given), tuple(result for _, result in pairs)

    def asides(self, size: int) -> tuple[tuple[str, ...], ...]:
        """Three runs of sentences of about so many characters each, no two of them alike, that assert nothing."""
        runs = []
        for _ in range(3):
            run: list[str] = []
            while sum(map(len, run)) < size:
                topic = self._random.choice(TOPICS)
                run.append(f"{self._random.choice(REPLIES).format(topic=topic)} The note on it reads {self._note()}.")
            runs.append(tuple(run))
        return tuple(runs)

    def call(self, *facts: Fact, size: int = 160) -> tuple[Append, Append]:
        """A tool call, and its result, which asserts these facts; the call's arguments hold those of kind `argument`.

        Every other call is all that its turn says, and has no text beside it. Raises `ValueError` where two facts
        are values of the same argument.
        """
        given = [fact for fact in facts if fact.kind == ARGUMENT]
        facts = tuple(fact for fact in facts if fact.kind != ARGUMENT)
        values: dict[str, str] = {}
        for fact in given:
            values |= json.loads(f"{{{fact.text}}}")
        if len(values) < len(given):
            raise ValueError("two facts for one argument of a call: put them into two calls")
        self._calls += 1
        call_id = f"call_{self._calls:04d}"
        topic = self._random.choice(TOPICS)
        verbose = self._random.random() < 0.5
        arguments = json.dumps({"about": topic, "note": self._note(), **values, "verbose": verbose})
        call = ToolCall(id=call_id, name=self._random.choice(TOOLS), arguments=arguments)
        text = f"Checking {topic} (note {self._note()})." if self._calls % 2 else None
        asking = self._turn("assistant", text=text, calls=(call,))
        answer = self.say(*facts, speaker="tool", size=size)
        return (
            Append(turn=asking, facts=tuple(given)),
            Append(turn=replace(answer.turn, result_of=call_id), facts=answer.facts),
        )

    def talk(self, turns: int, *facts: Fact, size: int = 200, tools: bool = True) -> tuple[Append, ...]:
        """At least so many turns of ordinary work, with the facts spread over them in order."""
        left = list(facts)
        made: list[Append] = []
        while len(made) < turns or left:
            due = max(1, round(len(left) / max(1, turns - len(made)))) if left else 0
            # Spread thin: where there are fewer facts than turns, some turns say nothing that could be lost.
            take = left[:due] if left and self._random.random() < len(left) * 1.3 / max(1, turns - len(made)) else []
            given = [number for number, fact in enumerate(take) if fact.kind == ARGUMENT]
            # One call, one such fact: two might be values of the same argument.
            take = take[: given[1]] if len(given) > 1 else take
            del left[: len(take)]
            if any(fact.kind == ARGUMENT for fact in take) or (tools and self._random.random() < 0.25):
                made.extend(self.call(*take, size=size))
            else:
                made.append(self.say(*take, speaker=("user", "assistant")[len(made) % 2], size=size))
        return tuple(made)

    def facts(self, count: int) -> tuple[Fact, ...]:
        """New statements, of every kind in turn."""
        return tuple(self.fact(KINDS[i % len(KINDS)]) for i in range(count))

    def choose(self, items: Sequence[Fact], count: int) -> tuple[Fact, ...]:
        """Some of them, by the seed."""
        return tuple(self._random.sample(list(items), min(count, len(items))))

    def _note(self) -> str:
        return self._fresh(lambda: " ".join(self._random.choice(WORDS) for _ in range(3)))

    def _turn(self, speaker: str, *, text: str | None, calls: tuple[ToolCall, ...] = ()) -> Turn:
        self._turns += 1
        return Turn(
            id=f"t{self._turns}",
            speaker=speaker,
            text=text,
            time=EPOCH + SECONDS_A_TURN * self._turns,
            calls=calls,
        )


def _join(parts: Sequence[str]) -> str:
    """Sentences after one another; rows of tables and JSON on lines of their own."""
    text = ""
    for part in parts:
        apart = part.startswith(("|", "{")) or text.endswith(("|", "}"))
        text += ("\n" if apart else " ") * bool(text) + part
    return text


def statement(kind: str, *, subject: str, attribute: str, value: str, form: int = 0) -> Fact:
    """The fact that a slot has a value, in words; a negation takes the form with "is not", a hedge that with "is
    probably"."""
    if kind == "negation":
        return Fact(
            text=f"The {attribute} of {subject} is not {value}.",
            literal=f"not {value}",
            kind="negation",
            subject=subject,
            attribute=attribute,
        )
    if kind == "hedge":
        return Fact(
            text=f"The {attribute} of {subject} is probably {value}.",
            literal=f"probably {value}",
            kind="hedge",
            subject=subject,
            attribute=attribute,
        )
    text = f"{subject}: {attribute} = {value}." if form else f"The {attribute} of {subject} is {value}."
    return Fact(
        text=text,
        literal=value,
        kind="number" if kind == "port" else kind,
        subject=subject,
        attribute=attribute,
    )
