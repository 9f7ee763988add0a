"""The compiled extractor answers what the Python code answers, and is used only where it belongs to it."""

import ast
import logging
import pickle
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest
from engines import native
from hypothesis import example, given
from hypothesis import strategies as st
from transcript_texts import texts

from anchorhold_reference.extract import facts_of, mentions
from anchorhold_reference.extract.doubts import HEDGING_WORDS
from anchorhold_reference.extract.engine import ENGINE, PYTHON, RULES, choose
from anchorhold_reference.extract.mention import Mention
from anchorhold_reference.extract.patterns import BOUND_WORDS, MONTHS
from anchorhold_reference.extract.text import NEGATING_WORDS, SPEAKERS
from anchorhold_spec.vocabulary import Turn

DATA = Path(__file__).parents[3] / "shared" / "data"
READ = {5: "daf34a4b8526981cda729d3c7c2904d424778ec6300006372881cf84e687ec89"}
"""Rules → digest of the facts of `SAMPLE`."""
SAMPLE = tuple(
    sorted(
        {
            node.value
            for file in sorted(Path(__file__).parent.glob("test_extract*.py"))
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
    )
)
"""Every text that the tests of extraction are written with."""

MARKS = [
    *" \t.,;:!?'\"()[]{}<>|/\\-_=+*&^%$#@~`",
    "\r",
    "\n",
    "’",
    "“",
    "”",
    "«",
    "»",
    "–",
    "—",
    "…",
    "→",
    "•",
    "≤",
    "≥",
    "≠",
]
ODD = [
    "\x00",
    "\x0b",
    "\x1c",
    "\x1f",
    "\x85",
    "\xa0",
    "\u2028",
    "\u3000",
    "\u0301",
    "\u0e31",
    "٣",
    "ſ",
    "ı",
    "İ",
    "K",
    "Å",
]
ODD += ["\ud83d", "\udc4d", "👍", "漢字", "かな", "ไทย", "ﬁ", "é", "ß", "ª", "²", "½", "_x", "ǅ"]
NUMBERS = [
    "7",
    "07",
    "30 ms",
    "1,300",
    "4.5%",
    "-1",
    "+12",
    "$3",
    "€4",
    "0x1F",
    "1e-5",
    "3GB",
    "12th",
    "1.2.3",
    "24-hour",
    "10-20",
]
TIMES = [
    "12:30",
    "09:14:22.5",
    "2026-11-12",
    "2026-11-12T10:00:00Z",
    "5pm",
    "12 Nov 2026",
    "March 3rd",
    "1/2/2026",
    "12:30 UTC",
]
PATHS = [
    "/srv/a7",
    "~/x",
    "./b.sh",
    "C:\\Users\\a",
    "src/**/*.py",
    "a.b.c",
    "x.py",
    ".gitignore",
    "https://x.org/a?b=1.",
    "and/or",
]
PATHS += [
    "a/b",
    "1/2",
    "../../x",
    "$HOME/x",
    "{a,b}/c",
    "s3://b/k",
    "ana@kelvo.example",
    "db:5432",
    "10.0.0.7:80",
    "t.Parallel",
]
NAMES = [
    "J-88",
    "#12",
    "@ana",
    "-x",
    "--long-option",
    "parse_turn",
    "_em_",
    "camelCase",
    "HTTPServer",
    "NASA",
    "APIs",
    "Ana",
    "Kelvo",
]
LONG = [
    "k" * 70,
    "─" * 80,
    f'{{"{"k" * 40}":"not-{"n" * 40}",maybe}}',
    '{"a":"b\\n\\tc","n":[1,2,{"x":null}]}' * 3,
    "no(" * 30,
]
FORMS = [
    "The port of db is not 80.",
    "db: port = 80",
    "a: b == c",
    "at most 30 ms",
    "no more than 5",
    "i think",
    "would be",
    "e.g. ",
]
FORMS += [
    "12→text",
    "  7\tx",
    "15: y",
    "12:30:x",
    "- ",
    "1. ",
    "## ",
    "> ",
    "user: ",
    "**assistant**: ",
    "[tool] said that ",
    '"a b c"',
]
FORMS += ["isn't", "n’t", "w/o", "however", ", but ", " - ", "Dr. ", "30 ms. ", "\\n", "\\tb", "of the", "of"]
WORDS = sorted(NEGATING_WORDS | HEDGING_WORDS | BOUND_WORDS | MONTHS | set(SPEAKERS))
PIECES = [MARKS, ODD, NUMBERS, TIMES, PATHS, NAMES, LONG, FORMS, WORDS]
PIECE = st.one_of(
    *(st.sampled_from(pieces) for pieces in PIECES),
    st.sampled_from(WORDS).map(str.upper),
    st.sampled_from(WORDS).map(str.capitalize),
    st.text(max_size=3),
    st.sampled_from([" ", " ", "\n"]),
)
TEXTS = st.one_of(
    st.lists(PIECE, max_size=24).map("".join),
    st.lists(PIECE, max_size=24).map(" ".join),
    st.tuples(st.lists(PIECE, min_size=1, max_size=12).map(" ".join), st.integers(1, 60)).map(lambda x: x[0] * x[1]),
    st.text(alphabet=st.characters(exclude_categories=[]), max_size=120),
)


def same(text, engine):
    """Values and types."""
    for read in ("mentions", "distinct"):
        theirs, ours = getattr(engine, read)(text), getattr(PYTHON, read)(text)
        assert theirs == ours
        if read == "distinct":
            theirs, ours = theirs.values(), ours.values()
        for one, other in zip(theirs, ours, strict=True):
            assert type(one) is Mention
            assert [*map(type, one)] == [*map(type, other)]


@given(TEXTS)
@example("it was not so and maybe it did not go there " * 60)
@example("see J-1\x1c- J-2. the user said: not so")
@example('"' * 5 + " a" * 1500 + '"x y" 12:30 Ana Kelvo')
@example("1 " * 1500 + "not 2")
@example("The Owner of /srv/A is bob. The owner of the  /srv/a is bob. Job J-8: Target = É\u0301.")
@example("the \ud800 of \udfff is 5 ms.")
@example("1234567→x\n12345678→y\n٣→z\n5:/a\n6:7\n7:")
@example("\r\n  12\t\n\r3→\rx")
def test_man_1_the_compiled_code_reads_what_the_python_code_reads(text):
    same(text, native())


@pytest.mark.parametrize("text", SAMPLE)
def test_man_1_the_compiled_code_reads_the_same_out_of_every_text_of_these_tests(text):
    engine = native()
    same(text, engine)
    same("\n".join([text, *SAMPLE[:40]]), engine)
    same(f"Perhaps {text}, but not J-1. {text} is 7 ms.", engine)


@pytest.mark.parametrize("character", ["a", "é", "漢", "👍", "\ud83d"])
def test_man_1_keys_of_the_compiled_code_are_those_of_the_python_code_whatever_the_length(character):
    """Where a block of the hash ends, in the middle of a character too."""
    lines = [f"{n:>3}→{'x' * (n % 5)}{character * (n % 150)} {'b' * n} of J-{n} is not 7 ms" for n in range(300)]

    same("\n".join(lines), native())


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason=f"the transcripts of {DATA} are not here")
def test_man_1_the_compiled_code_reads_the_same_out_of_whole_transcripts():
    engine = native()
    for text in texts(DATA):
        if engine.mentions(text) != PYTHON.mentions(text):
            same(text, engine)


def test_a_change_of_what_is_read_is_a_change_of_the_rules():
    """Where this fails what is read out of a text has changed: count `RULES` up in both, and note the digest."""
    read = sha256(repr([PYTHON.mentions(text) for text in FIXED]).encode()).hexdigest()

    assert READ[RULES] == read


def test_both_codes_are_written_for_the_same_rules():
    native()
    import anchorhold_native

    assert anchorhold_native.RULES == RULES


def module(rules, engine):
    """What loads an installation of the compiled code."""

    def load(name):
        if name == "anchorhold_native":
            return SimpleNamespace(RULES=rules)
        return SimpleNamespace(Native=engine)

    return load


def test_where_no_compiled_code_is_installed_the_python_code_reads(caplog):
    def load(name):
        raise ModuleNotFoundError(name)

    assert choose(load) is PYTHON
    assert not caplog.records


def test_compiled_code_of_the_same_rules_is_used(caplog):
    made = object()

    assert choose(module(RULES, lambda: made)) is made
    assert not caplog.records


@pytest.mark.parametrize("rules", [RULES - 1, RULES + 1, None, str(RULES)])
def test_compiled_code_of_other_rules_is_not_used_and_that_is_told_once(rules, caplog):
    with caplog.at_level(logging.WARNING, "anchorhold"):
        assert choose(module(rules, object)) is PYTHON

    (record,) = caplog.records
    assert f"by rules {rules} and this is rules {RULES}" in record.getMessage()


@pytest.mark.parametrize(
    "error", [ImportError("libpcre2"), AttributeError("_PIECE"), ValueError("pattern"), KeyError("x")]
)
def test_compiled_code_that_cannot_be_used_is_not_used_and_that_is_told_once(error, caplog):
    def fail():
        raise error

    with caplog.at_level(logging.WARNING, "anchorhold"):
        assert choose(module(RULES, fail)) is PYTHON

    (record,) = caplog.records
    assert type(error).__name__ in record.getMessage()


def test_the_python_code_can_be_asked_for():
    text = "The port of db is 80."

    assert mentions(text, engine=PYTHON) == mentions(text)
    turn = Turn(id="t", speaker="user", text=text)
    assert facts_of(turn, engine=PYTHON) == facts_of(turn, engine=ENGINE)


def test_threads_share_what_is_remembered(engine):
    texts = [
        "\n".join(f"line {i * k} of J-{i}: it's not {k} ms, “maybe” c{i}/x.py" for i in range(400)) for k in range(12)
    ]
    expected = [PYTHON.mentions(text) for text in texts]
    engine.forget()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(engine.mentions, texts * 8))

    assert found == expected * 8


def unpunctuated(words):
    """Speech as a recogniser writes it, one sentence without an end; what it denies and doubts is told apart."""
    letters = "bcdfghklpr"
    return " ".join(
        f"and then they did {words} go {letters[n // 100]}{letters[n // 10 % 10]} with {letters[n % 10]} all day"
        for n in range(1000)
    )


@pytest.mark.parametrize(("words", "kind"), [("not", "negation"), ("maybe", "hedge")])
def test_a_sentence_without_an_end_is_kept_in_pieces_whatever_it_says(engine, words, kind):
    """Or each of its facts would be kept with all of it: the square of its length."""
    text = unpunctuated(words)
    found = engine.mentions(text)

    assert {mention.kind for mention in found} == {kind}
    assert len(found) == 1000
    assert max(len(mention.said) for mention in found) <= 2000 < len(text)
    assert len({mention.key for mention in found}) == 1000


def test_man_5_a_negation_in_a_piece_keeps_the_doubt_that_its_sentence_begins_with(engine):
    end = unpunctuated("not")[-1500:]
    (*_, doubted) = engine.mentions(f"Perhaps {unpunctuated('not')}")
    (*_, firm) = engine.mentions(end)

    assert (doubted.kind, doubted.literal) == (firm.kind, firm.literal)
    assert (doubted.negated, doubted.hedged, firm.negated, firm.hedged) == (True, True, True, False)
    assert doubted.key != firm.key
    (*_, piece) = engine.mentions(doubted.said)
    assert piece.said == doubted.said
    assert piece.key != doubted.key


def test_of_lines_with_very_many_facts_fewer_are_remembered(engine):
    for facts, most in ((1, 2100), (120, 16_384 // 8)):
        engine.forget()
        held = []
        for n in range(2100):
            engine.mentions(" ".join([str(n), *["7"] * (facts - 1)]))
            held.append(engine.remembered())

        assert len(engine.mentions(" ".join(["7"] * facts))) == facts
        assert max(held) == most


def test_a_mention_is_a_tuple_like_any_other(engine):
    one, *_ = engine.mentions("see J-88 there")

    assert (one.kind, one.literal, one.start, one.end) == ("identifier", "J-88", 4, 8)
    assert hash(one) == hash(tuple(one))
    assert pickle.loads(pickle.dumps(one)) == one
    assert one._replace(start=0).start == 0


def test_text_of_a_class_of_its_own_is_text(engine):
    class Text(str):
        __slots__ = ()

    assert engine.mentions(Text("see J-88")) == engine.mentions("see J-88")


FIXED = (
    "I doubt that /srv/a7 works; it rarely did, and we failed to use C:/srv/a7. Avoid a few, few.",
    "The deploy target of job J-88 is /srv/a7. db: port != 80\nuser: the port of db is probably not 80, but see #12.",
    "  12→\tif x_y > 0x1F: return 'no'  # at least 30 ms, v1.2.3 and/or src/**/*.py\n",
    'Ana Kelvo said "stop, use port 7443" on 12 Nov 2026 at 09:14. 1. Retry 3 times. e.g. NASA isn’t 5% of APIs.',
    f"{{{'k' * 70}:[1,2,not-{'n' * 30}]}} https://x.org/a?b=1. ana@kelvo.example 10.0.0.7:80 -x --long 24-hour 10-20",
    "漢字 30 ms «a b c» …",
    "The rate limit of J-9 is 27856 req/s. The owner of relay-77 is t45f3dd8. It took 30 GiB and 4 MB at 20 °C.",
)
"""Texts that stay as they are, for `READ`."""
