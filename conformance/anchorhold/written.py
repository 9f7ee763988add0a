"""Kinds of text that some tool on the way takes for its own, each drawn anew from a seed.

A store fed from HTML unescapes what looks like an entity, a template engine fills what looks like a variable, a
masker blacks out what looks like an address, and so on. To the transcript all of it is text, and it comes back as it
came.

Every kind has several forms, all of which are sent together: whoever changes one of them is seen whatever the seed.
"""

import random
from collections.abc import Mapping

WORDS = (
    "amber",
    "birch",
    "cobalt",
    "ember",
    "garnet",
    "hazel",
    "juniper",
    "maple",
    "ochre",
    "quartz",
    "rowan",
    "teal",
)
HOSTS = ("wiki.example.org", "api.example.com:8443", "docs.example.net", "localhost:3000")
PEOPLE = ("mirela.okafor", "j_tanaka", "a-lindqvist", "yusuf+ops")
HEXADECIMAL = "0123456789abcdef"
ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789"

FORMS: Mapping[str, tuple[str, ...]] = {
    "entities": (
        "&lt;{word}&gt;{n}",
        "{word} &amp;&amp; {n}",
        "&quot;{word}-{n}&quot;",
        "&#{n};{word}",
        "&#x{hex4};{n}",
        "{n}&nbsp;{word}",
        "{word}&eacute;{n}",
    ),
    "tags": (
        "<think>{word} {n}</think>",
        "<!-- {word} {n} -->",
        "<b>{word}</b><br/>{n}",
        "<system-reminder>{word} {n}</system-reminder>",
        "<script>{word}({n})</script>",
        "<![CDATA[{word} {n}]]>",
        "[INST] {word} {n} [/INST]",
        "<|im_start|>{word} {n}<|im_end|>",
        "std::map<{word}, T{n}>",
    ),
    "variables": (
        "${{HOME}}/{word}{n}",
        "$HOME/{word}{n}",
        "$PATH:/{word}/{n}",
        "%USERPROFILE%/{word}{n}",
        "{{{{name}}}} {word} {n}",
        "{{name}} {word} {n}",
        "%(name)s {word} {n}",
        "~/{word}{n}",
        "$(id {word}{n})",
        "%d of %s {word}{n}",
        "<%= {word} %>{n}",
        "${{{{ github.sha }}}} {n}",
    ),
    "urls": (
        "https://{host}/{word}?q={word2}&page={n}#part-{n2}",
        "http://{host}/{word}/{n}/?utm_source={word2}&id=",
        "https://{host}/{word}#{n}",
        "HTTPS://{word}.Example.ORG/%7Euser/{n}",
        "https://user:{word}@{host}/{n}",
        "//cdn.example.net/{word}.js?v={n}",
        "file:///srv/{word}/{n}",
        "s3://{word}-{n}/key?versionId={hex8}",
    ),
    "personal": (
        "{person}{n}@example.org",
        "192.168.{byte}.{byte2}",
        "2001:db8::{hex4}:{hex4}",
        "+49 30 901820 {n}",
        "4111 1111 1111 {n}",
        "DE02 1203 0000 0000 {n} 51",
        "078-05-{n}",
    ),
    "secrets": (
        "{hex40}",
        "sha256:{hex64}",
        "sk-{key}{key}",
        "ghp_{key}",
        "AKIA{upper16}",
        "Bearer eyJ{key}.{key}",
        "password={key}",
        "{hex8}-{hex4}-4{hex3}-a{hex3}-{hex12}",
    ),
    "markdown": (
        "**{word}** {n}",
        "*{word}* and _{word2}_ {n}",
        "`{word} {n}`",
        "[{word}](https://{host}/{n})",
        "![{word}]({n}.png)",
        "~~{word} {n}~~",
        "| {word} | {n} |",
        "# {word} {n}",
        "> {word} {n}",
        "- [x] {word} {n}",
        "__init__ {word} {n}",
        "[^{n}]: {word}",
    ),
    "numbers": (
        "1,000,{n}",
        "12,{nnn} km",
        "1 000 {n}",
        "1.234.{nnn},50",
        "1'000'{nnn}",
        "1_000_{nnn}",
        "0.{n}0",
        "00{n}",
        "1e-{n}",
        "0x{hex8}",
        "{n}/2",
        "+{n}.0",
        "{n},5",
    ),
    "escapes": (
        "%20{word}%2F{n}",
        "{word}\\n{n}\\t",
        "\\u00e9{word}{n}",
        "\\x41{word}{n}",
        "\\\\srv\\{word}{n}",
        '\\"{word}\\" {n}',
        "{word}+{n}%2B",
        "=3D{word}={n}",
        "\\{word}\\ {n}",
        "^[[1m{word}^[[0m {n}",
    ),
}
"""By kind: what stands in a line of text. Kinds are of those who take the text for their own."""

LAID_OUT: Mapping[str, tuple[str, ...]] = {
    "front matter": ("---\ntitle: {word}\nweight: {n}\n---\n{word2} below it.",),
    "a line between": ("{word} {n} above it.\n\n---\n\n{word2} below it.", "{word} {n}\n***\n{word2}\n___\nend"),
    "fences": (
        "```python\nprint('{word}', {n})\n```",
        "~~~\n{word} {n}\n~~~\nand on.",
        "    indented {word} {n}\n\n\tand by a tab",
    ),
    "tables": ("| a | b |\n|---|:--|\n| {word} | {n} |\n|  | |",),
    "marks": ("\ufeff{word} {n} behind a mark.", "{word} \ufeff{n} \u200b around one."),
    "blanks": (
        "  {word} {n}  ",
        "{word} {n}\t",
        "\n\n{word} {n}\n",
        "{word} {n}\r\n{word2}\r\n",
        "{word}\u3000{n}\u00a0",
    ),
    "terminals": (
        "\x1b[1;32m{word} {n}\x1b[0m\x1b[K",
        "\x1b]8;;https://{host}/{n}\x1b\\{word}\x1b]8;;\x1b\\",
        "{word} 10%\r{word} {n}%\r\n",
        "{word}\x08\x08{n}",
    ),
    "ends": (
        "{word} {n} <|endoftext|> {word2}",
        "{word} {n}\nHuman: {word2}\n\nAssistant:",
        "{word} {n}\nEOF\n{word2}",
    ),
}
"""What is told by its lines, its beginning or its end: each is all of a turn."""

SCALARS = (
    "00{n}",
    "{n}.10",
    "no",
    "null",
    "true",
    "{n}e5",
    "0o{octal}",
    "[1, {n}]",
    '{{"a": {n}}}',
    "12:30:{two}",
    "2026-01-{two}",
    "1_000_{nnn}",
    "NaN",
    '"{word} {n}"',
    "{word}: {n}",
    "- {word} {n}",
    "&{word} {n}",
    "!!str {n}",
    "# {word} {n}",
    "+{n}",
    "undefined",
    "None",
)
"""What is a value of its own to a reader of YAML, JSON or TOML: each is all of a turn."""


def filled(form: str, rng: random.Random) -> str:
    """A form with fresh fillings."""

    def some(alphabet: str, count: int) -> str:
        return "".join(rng.choice(alphabet) for _ in range(count))

    return form.format(
        word=rng.choice(WORDS),
        word2=rng.choice(WORDS),
        host=rng.choice(HOSTS),
        person=rng.choice(PEOPLE),
        n=rng.randrange(1101, 9899),
        n2=rng.randrange(1101, 9899),
        nnn=rng.randrange(101, 989),
        two=rng.randrange(10, 29),
        byte=rng.randrange(2, 250),
        byte2=rng.randrange(2, 250),
        octal=some("1234567", 4),
        key=some(ALPHABET, 20),
        upper16=some("ABCDEFGHJKLMNPQRSTUVWXYZ234567", 16),
        **{f"hex{count}": some(HEXADECIMAL, count) for count in (3, 4, 8, 12, 40, 64)},
    )


def lines(size: int, rng: random.Random) -> str:
    """So many characters of a log, no two lines of it alike: letters, digits and blanks alone."""
    block = [" ".join(rng.choice(WORDS) for _ in range(9)) for _ in range(61)]
    made, length, number = list[str](), 0, rng.randrange(10_000)
    while length < size:
        line = f"{number:08d} {block[number % len(block)]}"
        made.append(line)
        length, number = length + len(line) + 1, number + 1
    return "\n".join(made)[:size]
