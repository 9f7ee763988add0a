"""Where a literal stands in a text as a whole: no neighbour of what was asked for is found, and all that is it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorhold_reference.extract import mentions, stands_in

ASKED = {
    "path": ("/srv/a7", "src/app/main.py", "~/notes", "https://x.org/a", "C:/srv/a7"),
    "number": ("5 ms", "42", "4.5%", "1,300", "$12"),
    "identifier": ("J-88", "parse_turn", "v1.2.3", "10.0.0.7"),
    "timestamp": ("12:30", "2026-11-12"),
}
LITERALS = [(kind, literal) for kind, literals in ASKED.items() for literal in literals]
AROUND = st.text("~./:%-+=$@#?&_,;'\"()[]{}<>*!a7 0\u00a0–−", max_size=4)


def read(text: str, kind: str, literal: str) -> bool:
    """Whether the extractor reads a literal somewhere in a text, of a kind and to the letter."""
    return any(m.kind == kind and m.literal.rstrip("/") == literal for m in mentions(text))


@given(AROUND, st.sampled_from(LITERALS), AROUND)
def test_rec_1_what_is_found_is_no_piece_of_another_fact(before, one, after):
    """Whatever stands around it: where it is found, no fact of one word reaches over one of its ends."""
    _, literal = one
    text = f"Deleted {before}{literal}{after} today."
    at = stands_in(text, literal)
    if at < 0:
        return

    for m in mentions(text):
        if m.kind in {"path", "number", "timestamp"} and " " not in m.literal:
            own = m.literal.rstrip("/") if m.literal != literal else m.literal
            for end in (at, at + len(literal)):
                assert not m.start < end < m.start + len(own), (text, m.literal)


@given(
    st.sampled_from(
        ["", "(", "'", '"', "`", "path=", "**", "<", ">", "[", "{", "a: ", "- ", "• ", "3–", "see\u00a0"]
    ),
    st.sampled_from(LITERALS),
    st.sampled_from(
        ["", ")", "'", '"', "`", "**", "<", ">", "]", "}", ".", ",", ";", ":", "!", "?", "…", ":12 ", ")."]
    ),
)
def test_rec_4_what_the_extractor_reads_to_the_letter_is_found(before, one, after):
    kind, literal = one
    text = f"Deleted {before}{literal}{after} today."

    # A minus sign, and groups of a number, the extractor does not read: they are no part of this.
    if read(text, kind, literal):
        assert stands_in(text, literal) >= 0, text


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        *(("/srv/a7", said) for said in ("~/srv/a7", "../srv/a7", "./srv/a7", "C:/srv/a7", "${HOME}/srv/a7")),
        *(("/srv/a7", said) for said in ("/srv/a7~", "/srv/a7%20old", "/srv/a7+", "/srv/a7@2", "file:///srv/a7")),
        *(("/srv/a7", said) for said in ("@/srv/a7", "/srv/a7=x", "/srv/a7/b", "x/srv/a7")),
        *(("https://x.org/a", said) for said in ("https://x.org/a?b=1", "https://x.org/a#b", "https://x.org/a:b")),
        *(("5 ms", said) for said in ("-5 ms", "+5 ms", "−5 ms", "–5 ms", "005 ms", "1 005 ms", "1.5 ms", "$5 ms")),
        *(("005 ms", said) for said in ("1 005 ms", "1,005 ms", "1\u00a0005 ms", "1\u202f005 ms", "1'005 ms")),
        *(("42", said) for said in ("-42", "(-42)", "$42", "42%", "42ms", "+42", "x=-42", "#42", "4242", "42e3")),
        *(("12:30", said) for said in ("12:30:45", "12:30pm", "2026-11-12T12:30:00Z")),
        ("a7.txt", r"C:\srv\a7.txt"),
        ("x.org", "ana@x.org"),
    ],
)
def test_rec_1_a_neighbour_does_not_stand_for_it(asked, said):
    for text in (said, f"It is {said}.", f"({said})", f'"{said}", so it is'):
        assert stands_in(text, asked) < 0, text


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        *(
            ("/srv/a7", said)
            for said in ("(/srv/a7)", "/srv/a7.", "/srv/a7,", "path=/srv/a7", "'/srv/a7'", "/srv/a7:12")
        ),
        *(("/srv/a7", said) for said in ("/srv/a7/", "**/srv/a7**", "`/srv/a7`", '{"p":"/srv/a7"}', "--dir=/srv/a7")),
        *(("/srv/a7", said) for said in ("path:/srv/a7", "<td>/srv/a7</td>", "~/srv/a7 and /srv/a7", "[/srv/a7](x)")),
        *(("5 ms", said) for said in ("3–5 ms", "- 5 ms", "• 5 ms", "– 5 ms", "=5 ms", "≤5 ms", "~5 ms", "1, 5 ms")),
        *(("42", said) for said in ("v=42,", '{"n":42}', "[42]", "42;", "db:42", "3—42", "row 1 42")),
        *(("8080", said) for said in ("db:8080", "10.0.0.7:8080", "port: 8080")),
        ("300 ms", "item 7 300 ms"),
        ("port", "--port"),
        ("ana", "@ana"),
        ("12:30", "2026-11-12 12:30"),
    ],
)
def test_rec_4_an_honest_find_stays(asked, said):
    for text in (said, f"It is {said} so.", f'"{said}" it is'):
        assert stands_in(text, asked) >= 0, text
