"""What is read out of texts, by the Python code and by the compiled code."""

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anchorhold_reference.extract import facts_of, mentions
from anchorhold_reference.extract.mention import key_of
from anchorhold_spec.vocabulary import ToolCall, Turn


def found(engine, text, *, parts=True):
    return {(m.kind, m.literal) for m in mentions(text, engine=engine) if parts or not m.part}


@pytest.mark.parametrize(
    ("text", "subject", "attribute", "literal"),
    [
        ("The deploy target of job J-88 is /srv/a7.", "job J-88", "deploy target", "/srv/a7"),
        ("db-1: port = 7443.", "db-1", "port", "7443"),
        ("The port of db is not 80.", "db", "port", "not 80"),
        ("The port of db isn't 80.", "db", "port", "n't 80"),
        ("db: port = not 80", "db", "port", "not 80"),
        ("db: port != 80", "db", "port", "!= 80"),
        ("- The owner of the port of db is Ana Kelvo", "the port of db", "owner", "Ana Kelvo"),
        ("user: The version of svc is v1.2.3.", "svc", "version", "v1.2.3"),
        ("The user said that the port of db is 80.", "db", "port", "80"),
        ("system: memory = 64 GB", "system", "memory", "64 GB"),
        ("user: db: port = 80", "db", "port", "80"),
        ("1. The note of x is 12:30, or so it seems.", "x", "note", "12:30, or so it seems"),
        ("http://a.b/c: weight = 3 kg.", "http://a.b/c", "weight", "3 kg"),
    ],
)
def test_man_1_slots_are_read_from_sentences(engine, text, subject, attribute, literal):
    (slot,) = [m for m in mentions(text, engine=engine) if m.kind == "slot"]

    assert (slot.subject, slot.attribute, slot.literal) == (subject, attribute, literal)
    assert text[slot.start : slot.end] == literal


@pytest.mark.parametrize(
    "text", ["Is the port of db is 80?", "The end of the story", "of course it is", "x = 3", "if a: b == c: return d"]
)
def test_man_1_a_question_or_another_sentence_is_no_slot(engine, text):
    assert [m for m in mentions(text, engine=engine) if m.kind == "slot" and text.endswith("?")] == []
    if "=" not in text:
        assert [m for m in mentions(text, engine=engine) if m.kind == "slot"] == []


def test_man_1_both_forms_state_the_same_fact(
    engine,
):
    keys = {
        m.key
        for t in ("The port of db is 80.", "db: port = 80", "the port of  the db is 80")
        for m in mentions(t, engine=engine)
        if m.kind == "slot"
    }

    assert len(keys) == 1


def test_rec_1_slots_that_differ_in_case_are_several_facts(
    engine,
):
    texts = ("The port of db is 80.", "The port of DB is 80.", "The Port of db is 80.", "Db: port = 80")
    found = [m for m in mentions("\n".join(texts), engine=engine) if m.kind == "slot"]

    assert len({m.key for m in found}) == len(found) == len(texts)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The port of db is 80.", "The port of db is 8080."),
        ("The port of db is 80.", "The port of db is not 80."),
        ("The port of db is 80.", "The port of db is probably 80."),
        ("The port of db is 80.", "The port of db was 80."),
        ("The port of db is 80 ms.", "The port of db is 80 s."),
        ("Wait at most 30 ms.", "Wait at least 30 ms."),
        ("J-88 failed.", "J-88 never failed."),
        ("J-88 failed.", "Perhaps J-88 failed."),
        ("J-88 failed.", "J-888 failed."),
        ("The lag is 30 ms here.", "The lag is 30 ms there."),
    ],
)
def test_man_2_and_man_5_what_differs_in_value_polarity_unit_bound_or_doubt_is_another_fact(engine, one, other):
    assert {m.key for m in mentions(one, engine=engine)}.isdisjoint(m.key for m in mentions(other, engine=engine))


CLAIM = "/srv/a7 works"
DOUBTED = (
    *("I doubt that {}.", "It is doubtful that {}.", "It is untrue that {}.", "The claim that {} is false."),
    *(
        "It is false that {}.",
        "It is wrong that {}.",
        "It is a myth that {}.",
        "Ana denies that {}.",
        "{}, supposedly.",
    ),
    *("It rarely happens that {}.", "It seldom happens that {}.", "{} hardly.", "{} scarcely.", "{} barely."),
    *("{} only on Mondays.", "{} sometimes.", "{} often.", "{} partly.", "{}, except on Mondays.", "Almost {}."),
    *("It is unlikely that {}.", "It is questionable that {}.", "Allegedly {}.", "Presumably {}.", "Reportedly {}."),
    *("It seems that {}.", "It appears that {}.", "Ana suspects that {}.", "Ana guessed that {}.", "I wonder, {}."),
    *(
        "Ana thinks {}.",
        "Ana claims that {}.",
        "We hope that {}.",
        "We assume {}.",
        "{} in theory.",
        "{}, provided that so.",
    ),
    *("Few say that {}.", "Little says that {}.", "Somebody lacks proof that {}.", "It is far from so that {}."),
    *(
        "Formerly {}.",
        "It used to be that {}.",
        "It is impossible that {}.",
        "It would be that {}.",
        "It should be {}.",
    ),
)
DONE = (
    *("We rarely use {}.", "Avoid {}.", "They avoided using {}.", "It failed to use {}.", "She refused to use {}."),
    *("We tried to use {}.", "We stopped using {}.", "We ceased to use {}.", "It prevents the use of {}."),
    *(
        "The use of {} is forbidden.",
        "We decided against {}.",
        "Use something rather than {}.",
        "Use it instead of {}.",
    ),
    *("We plan to use {}.", "We forgot {}.", "We were unable to use {}.", "The use of {} was rejected."),
)


@pytest.mark.parametrize("text", [*(one.format(CLAIM) for one in DOUBTED), *(one.format("/srv/a7") for one in DONE)])
def test_man_5_what_doubts_restricts_or_denies_a_claim_is_an_assertion_that_the_claim_does_not_carry(engine, text):
    plain = {
        m.key
        for said in (f"{CLAIM}.", "Use /srv/a7.", "We use /srv/a7.", "We always use /srv/a7.")
        for m in mentions(said, engine=engine)
    }
    doubts = [m for m in mentions(text, engine=engine) if m.kind in {"hedge", "negation"}]

    assert doubts
    assert plain.isdisjoint(m.key for m in mentions(text, engine=engine))
    # What denies "maybe" does not carry what denies "rarely": each is read with its whole sentence.
    other = {m.key for m in mentions(f"Perhaps {CLAIM}, not so.", engine=engine)}
    assert other.isdisjoint(m.key for m in doubts)


@pytest.mark.parametrize(
    "text", ["A few hosts use /srv/a7.", "The test failed on /srv/a7.", "Try /srv/a7.", "Stop at /srv/a7."]
)
def test_man_5_words_that_hedge_with_others_only_do_not_hedge_alone(engine, text):
    assert not [m for m in mentions(text, engine=engine) if m.kind in {"hedge", "negation"}]


@pytest.mark.parametrize(
    ("text", "kind", "literal"),
    [
        ("see src/app/main.py now", "path", "src/app/main.py"),
        ("in /etc/app/conf.yaml.", "path", "/etc/app/conf.yaml"),
        ("in ~/notes/x.md,", "path", "~/notes/x.md"),
        ("run ./build.sh", "path", "./build.sh"),
        (r"at C:\Users\ana\x.txt", "path", r"C:\Users\ana\x.txt"),
        ("at C:/srv/a7 now", "path", "C:/srv/a7"),
        ("edit pyproject.toml first", "path", "pyproject.toml"),
        ("at https://x.org/a?b=1.", "path", "https://x.org/a?b=1"),
        ("commit 8d3f2a1 broke it", "identifier", "8d3f2a1"),
        ("id 1b3e6441-62e3-4b41-8a0c-9d252f531f7a", "identifier", "1b3e6441-62e3-4b41-8a0c-9d252f531f7a"),
        ("toolu_01YSSAHQnxsQC5wBW4QHXLbF ran", "identifier", "toolu_01YSSAHQnxsQC5wBW4QHXLbF"),
        ("ENG-98 is open", "identifier", "ENG-98"),
        ("see #123", "identifier", "#123"),
        ("host 10.0.0.7:8080", "identifier", "10.0.0.7:8080"),
        ("mail ana@kelvo.example", "identifier", "ana@kelvo.example"),
        ("call parse_turn there", "identifier", "parse_turn"),
        ("after 30 ms", "number", "30 ms"),
        ("used 1,300 rows", "number", "1,300 rows"),
        ("grew 4.5%", "number", "4.5%"),
        ("costs $12.50", "number", "$12.50"),
        ("at 2026-11-12T10:00:00Z", "timestamp", "2026-11-12T10:00:00Z"),
        ("on 2026-11-12", "timestamp", "2026-11-12"),
        ("at 09:14", "timestamp", "09:14"),
        ("on 12 Nov 2026", "timestamp", "12 Nov 2026"),
        ('he said "stop, use port 7443" twice', "quotation", '"stop, use port 7443"'),
        ("we met Ana Kelvo", "entity", "Ana Kelvo"),
        ("invoice is NOT paid yet", "negation", "is NOT paid yet"),
        ("it didn't run", "negation", "didn't run"),
        ("it can't reach /srv/kestrel/ledger81.sock.", "negation", "can't reach /srv/kestrel/ledger81.sock"),
        ("maybe it ran", "hedge", "maybe it ran"),
    ],
)
def test_man_1_literals_are_found_whole(engine, text, kind, literal):
    assert (kind, literal) in found(engine, text)


def test_man_1_what_stands_inside_a_slot_is_part_of_its_assertion(
    engine,
):
    text = "The deploy target of job J-88 is /srv/a7."

    assert found(engine, text, parts=False) == {("slot", "/srv/a7")}
    assert ("identifier", "J-88") in found(engine, text)


def test_man_1_arguments_of_calls_are_read_leaf_by_leaf(
    engine,
):
    call = ToolCall(id="c", name="write", arguments='{"path": "/etc/x", "n": [1, {"deep": null}], "e": ""}')
    facts = facts_of(Turn(id="t", speaker="assistant", calls=(call,)), engine=engine)

    assert {(m.attribute, m.literal) for m in facts} == {("path", "/etc/x"), ("n[0]", "1"), ("n[1].deep", "null")}


@pytest.mark.parametrize("arguments", ["not json", '"\\ud800"', "[" * 100_000])
def test_man_1_arguments_that_are_not_json_stand_as_they_are(engine, arguments):
    facts = facts_of(
        Turn(id="t", speaker="assistant", calls=(ToolCall(id="c", name="x", arguments=arguments),)), engine=engine
    )

    assert [m.literal for m in facts] == [arguments]


@given(st.text(max_size=400))
def test_man_2_every_literal_stands_where_it_says(engine, text):
    for m in mentions(text, engine=engine):
        assert text[m.start : m.end] == m.literal
        assert m.literal in text
        assert m.said in text


@given(st.text(max_size=400))
def test_man_2_a_key_is_made_of_what_the_mention_says(engine, text):
    for m in mentions(f"    12→{text}\nThe port of db is 80. Wait at most 30 ms, J-8. {text}", engine=engine):
        assert m.key == key_of(
            m.kind,
            m.literal,
            m.said,
            subject=m.subject,
            attribute=m.attribute,
            negated=m.negated,
            hedged=m.hedged,
            frame=m.frame,
        )


SPACED = (
    "%-19s",
    "J-88",
    "/srv/a7",
    "text",
    "Ana",
    f'"{"─" * 70}",',
    f'{{"{"k" * 40}":"v-1","{"n" * 40}":7}}',
    "v=3,",
)


# As many blanks too many as the long word has parts: the lengths of the words alone do not tell where they stand.
@example([("J-88", "    "), (SPACED[5], " "), ("/srv/a7", " ")])
@given(st.lists(st.tuples(st.sampled_from(SPACED), st.integers(1, 6).map(" ".__mul__)), max_size=6))
def test_man_1_how_much_white_space_stands_between_words_changes_no_literal(engine, words):
    one = mentions(" ".join(word for word, _ in words), engine=engine)
    other = mentions("".join(word + blank for word, blank in words), engine=engine)

    kinds = {"identifier", "path", "number"}
    assert [m.literal for m in one if m.kind in kinds] == [m.literal for m in other if m.kind in kinds]


WORD = st.text(string.ascii_letters + string.digits + "-_/.", min_size=1, max_size=12).filter(
    lambda w: w.strip("./-_")
)
NAME = st.lists(st.text(string.ascii_lowercase, min_size=1, max_size=8), min_size=1, max_size=3).map(" ".join)


@given(
    NAME.filter(lambda n: not {"of", "is"} & set(n.split())),
    NAME.filter(lambda n: not {"is", "was", "are", "were"} & set(n.split())),
    WORD,
)
def test_man_1_any_plain_slot_is_read_back(engine, attribute, subject, value):
    value = value.rstrip(".")
    for text in (f"The {attribute} of {subject} is {value}.", f"{subject}: {attribute} = {value}."):
        slots = [m for m in mentions(text, engine=engine) if m.kind == "slot"]
        assert [(m.subject, m.attribute, m.literal, m.negated) for m in slots] == [(subject, attribute, value, False)]


@given(st.text(max_size=200), st.text(max_size=60))
def test_man_2_a_sentence_repeated_on_a_line_of_its_own_is_the_same_fact(engine, text, around):
    """What pinning relies on: a statement repeated word for word in another text earns the same entry."""
    for m in mentions(text, engine=engine):
        if m.kind == "slot":
            again = {n.key for n in mentions(f"Something else.\n{m.said}\nAnd more.", engine=engine)}
            assert m.key in again


@pytest.mark.parametrize(
    "unit", [".", "a/", "a-", "A ", "1,", '"a ', "the a of b is ", "a: b = ", "not ", "x@", "(["]
)
def test_man_2_long_monotonous_text_is_read_to_its_end(engine, unit):
    """Such text makes careless patterns go back and forth over it; one that does so here would not come to an end."""
    text = unit * 4000 + "\nThe port of db is 80."
    found_ = mentions(text, engine=engine)

    assert all(text[m.start : m.end] == m.literal for m in found_)
    assert ("slot", "80") in {(m.kind, m.literal) for m in found_}


@pytest.mark.parametrize("unit", ["ms", "s", "m", "V", "GB", "req/s", "km/h", "°C"])
def test_a_unit_at_the_end_of_a_sentence_ends_it(engine, unit: str) -> None:
    text = f"relay-58: request timeout = 63 {unit}. The owner token of job J-296 is mda0458a."
    slots = {(m.subject, m.attribute, m.literal) for m in mentions(text, engine=engine) if m.subject is not None}

    assert slots == {
        ("relay-58", "request timeout", f"63 {unit}"),
        ("job J-296", "owner token", "mda0458a"),
    }


def test_a_name_that_ends_with_a_point_and_a_letter_ends_its_sentence(engine) -> None:
    text = "job J-11 must not be given /srv/conf43.d. The log file of job J-23 is /srv/argus7.sock."
    slots = {(m.subject, m.attribute, m.literal) for m in mentions(text, engine=engine) if m.subject is not None}

    assert slots == {("job J-23", "log file", "/srv/argus7.sock")}


def test_man_1_a_unit_is_part_of_its_number_and_no_literal_of_its_own(engine):
    text = "It took 30 GiB, then 4 MB, 3 kHz and 12 GiB/s2 more of GiB until then."

    assert found(engine, text) == {
        ("number", "30 GiB"),
        ("number", "4 MB"),
        ("number", "3 kHz"),
        ("number", "12"),
        ("path", "GiB/s2"),
        ("identifier", "GiB"),
    }


@pytest.mark.parametrize("name", ["Ms. Reed", "Dr. Reed", "J. Reed", "e.g. Reed", "St. Ives"])
def test_an_abbreviation_ends_no_sentence(engine, name: str) -> None:
    (slot,) = {
        m.literal for m in mentions(f"The owner of job J-296 is {name}.", engine=engine) if m.subject is not None
    }

    assert slot == name


def _floats(n):
    return "[" + ", ".join(f"0.{i:06d}" for i in range(n)) + "]"


def _objects(n):
    return ",".join(f'{{"id":"J-{i}","size":{i},"state":"not done"}}' for i in range(n))


def _denied(n):
    return "It is not so that " + " ".join(f"J-{i} has {i} parts," for i in range(n))


@pytest.mark.parametrize("data", [_floats, _objects, _denied])
def test_pro_4_what_is_kept_beside_the_facts_of_one_line_grows_with_the_line(engine, data):
    kept = [sum(len(m.said) for m in mentions(data(n), engine=engine)) / n for n in (500, 5000)]
    text = data(5000)

    assert kept[1] < 1.5 * max(kept[0], 2000)
    for m in mentions(text, engine=engine):
        assert text[m.start : m.end] == m.literal
        assert m.literal in m.said
        assert m.said in text


def test_man_5_a_piece_of_a_long_sentence_keeps_that_it_is_denied(
    engine,
):
    text = _denied(500)
    plain = {m.key for m in mentions(text.removeprefix("It is not so that "), engine=engine)}

    assert {m.key for m in mentions(text, engine=engine) if m.kind == "number"}.isdisjoint(plain)


def test_rec_1_a_piece_of_a_long_sentence_states_no_slot(
    engine,
):
    text = _denied(300) + " J-1: port = 80"

    assert not [m for m in mentions(text, engine=engine) if m.kind == "slot"]
