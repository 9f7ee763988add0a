"""Extraction's shortcuts find what the patterns find that they stand for, and remember nothing wrong."""

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anchorhold_reference.extract import mentions
from anchorhold_reference.extract.doubts import HEDGE, HEDGING_WORDS
from anchorhold_reference.extract.lines import _BOUND_TAILS, _sentences
from anchorhold_reference.extract.literals import _overlap, _quotations, hedges, negators, places
from anchorhold_reference.extract.memo import Memo
from anchorhold_reference.extract.patterns import BOUND, QUOTATION
from anchorhold_reference.extract.slots import _ARTICLE, name, spelled
from anchorhold_reference.extract.text import NEGATING_WORDS, NEGATOR, SPEAKERS, read_sentence
from anchorhold_reference.extract.text import bounds as sentence_bounds
from anchorhold_reference.extract.words import words

PLAIN = ("J-88", "/srv/a7", "x", "Ana", "Kelvo", "30", "ms", "to", "be", "i", "in", "the", "then.", "12:30", "v=3,")
HINTS = (*sorted(NEGATING_WORDS | HEDGING_WORDS), "w/o", "~3", "~")
NAMES = (*SPEAKERS, "user:", "**user**", "[the", "user]", "agent]:", "said", "that", "-", "#", "1.", "2)", ">", "*")
LONG = ("k" * 70, f'{{"{"k" * 40}":"not-{"n" * 40}",maybe}}', "no(" * 30)
MARKS = ("{}", "({}", "{},", "{}.", "{}?", "{}!", '"{}"', "{};", "*{}*", "x/{}", "{}-y")
WORDS = st.one_of(
    st.sampled_from(PLAIN),
    st.sampled_from(HINTS),
    st.sampled_from(NAMES),
    st.sampled_from(LONG),
    st.builds(lambda mark, word: mark.format(word), st.sampled_from(MARKS), st.sampled_from(PLAIN + HINTS + NAMES)),
    st.sampled_from(HINTS).map(str.upper),
)
LINES = st.lists(st.tuples(WORDS, st.sampled_from([" ", " ", " ", "  ", "\t"])), min_size=1, max_size=9).map(
    lambda pieces: "".join(word + blank for word, blank in pieces)
)


def hinted(line):
    """What `read_line` knows of a line before it looks at it as a whole."""
    found, known, whole = words(line)
    told = [(i, word) for i, word in enumerate(known) if word is not None]
    flags = 0
    for _, word in told:
        flags |= word.flags
    return found, told, flags, places(line, found, whole=whole)


@given(LINES)
@example("I think not, if in case it should be so, unless i guess w/o it.")
def test_what_negates_and_hedges_is_known_from_the_words_of_a_line(line):
    found, told, flags, at = hinted(line)

    assert negators(told, at) == tuple(match.span() for match in NEGATOR.finditer(line))
    assert hedges(line, found, told, flags, at) == tuple(match.span() for match in HEDGE.finditer(line))


@given(LINES)
@example("the user said that it ran")
@example("- user: it ran")
@example("It ran. - the user said so.")
def test_only_sentences_that_may_begin_with_a_bullet_or_a_name_are_looked_at_for_them(line):
    found, told, flags, at = hinted(line)
    if not told:
        return
    spans = [tuple(match.span() for match in pattern.finditer(line)) for pattern in (NEGATOR, HEDGE)]
    full = [
        read_sentence(line, start, end, bulleted=True, attributed=True, negators=spans[0], hedges=spans[1])
        for start, end in sentence_bounds(line, 0, len(line))
    ]

    assert _sentences(line, found, told, flags, at) == full


@given(st.lists(st.sampled_from(['"', '"', "a", "bc ", " ", "\\", "d,", "“", "”", "«", "»", "x" * 399]), max_size=24))
@example(list('"ab" "cd"'))
def test_quotations_are_found_from_mark_to_mark(pieces):
    text = "".join(pieces)

    assert _quotations(text) == [match.span() for match in QUOTATION.finditer(text)]


@given(st.from_regex(BOUND), st.booleans())
def test_wherever_a_bound_stands_one_of_its_tails_does(text, upper):
    text = text.upper() if upper and text.isascii() else text
    if text.isascii() and BOUND.search(text):
        assert text.rstrip().lower().endswith(_BOUND_TAILS)


@given(LINES)
def test_a_line_that_is_remembered_has_the_facts_of_one_that_is_read_anew(engine, line):
    known = engine.facts_in(line)

    assert engine.facts_in(line) == known == engine.read_line(line)


@given(st.lists(LINES, max_size=5), st.integers(0, 9_999_999), st.sampled_from(["→", "\t", ":", ": "]))
def test_a_line_says_the_same_wherever_it_stands(engine, texts, number, mark):
    """Places apart, and the number of the line itself."""
    texts = [f"see {text}" for text in texts]  # that begins with no number
    alone = [m._replace(start=0, end=0) for text in texts for m in mentions(text, engine=engine)]
    together = mentions("\r\n".join(f"  {number}{mark}{text}" for text in texts), engine=engine)

    said = [m._replace(start=0, end=0) for m in together if m.frame != "line"]
    assert said == alone
    assert sum(m.frame == "line" for m in together) == len(texts)
    assert all(one.start <= other.start for one, other in pairwise(m for m in together if m.frame == "line"))


def test_a_memo_holds_what_was_asked_for_last_and_no_more_than_twice_its_size():
    read = []
    memo = Memo(lambda key: read.append(key) or key.upper(), 10)
    for i in range(1000):
        assert memo[f"a{i}"] == f"A{i}"
        assert memo["always"] == "ALWAYS"
        assert len(memo) <= 10
        assert len(memo._old) <= 10

    assert read.count("always") == 1
    assert memo.missed == len(read) == 1001
    memo.forget()
    assert memo["a999"] == "A999"
    assert memo.missed == 1
    assert read[-1] == "a999"


@pytest.mark.parametrize("size", [1, 2, 3])
@given(st.lists(st.sampled_from("abcdef"), max_size=60))
def test_a_memo_answers_like_the_function_it_remembers(size, keys):
    memo = Memo(str.upper, size)

    assert [memo[key] for key in keys] == [key.upper() for key in keys]


def test_what_is_remembered_of_lines_is_bounded(engine):
    for i in range(40_000):
        engine.facts_in(f"see J-{i}")

    missed = engine.missed
    assert engine.remembered() <= 1 << 14
    assert engine.facts_in("x J-1 " * 400) == engine.read_line("x J-1 " * 400)
    assert engine.missed == missed
    assert re.fullmatch("J-1", engine.read_line("see J-1")[0][1])


class Counted(list):
    """A list that counts how often one of its members is looked at."""

    looked = 0

    def __getitem__(self, at):
        self.looked += 1
        return super().__getitem__(at)


@given(
    st.lists(st.integers(0, 60), min_size=2, max_size=12, unique=True).map(sorted),
    st.integers(0, 60),
    st.integers(1, 9),
)
def test_whether_a_place_is_taken_is_found_without_looking_at_all_that_is(edges, start, size):
    spans = list(zip(edges[::2], edges[1::2], strict=False))

    assert _overlap(spans, start, start + size) == any(a < start + size and start < b for a, b in spans)


def test_a_line_of_very_many_times_costs_each_place_a_few_looks():
    spans = Counted((10 * n, 10 * n + 5) for n in range(10_000))

    assert _overlap(spans, 50_004, 50_006)
    assert not _overlap(spans, 50_006, 50_009)
    assert spans.looked < 50


@given(
    st.lists(
        st.sampled_from(["the", "The", "a", "AN", "an", "", " ", "\x1c", "\t", "\n", "db-1", "é", "É", "ß"])
    ).map("".join)
    | st.text()
)
def test_rec_1_the_name_of_a_slot_does_not_depend_on_whether_it_is_ascii(text):
    written = unicodedata.normalize("NFC", _ARTICLE.sub("", " ".join(text.split())))

    assert spelled(text) == written
    assert name(text) == unicodedata.normalize("NFC", written.casefold())
