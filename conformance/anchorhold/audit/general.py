"""What an agent knows without its transcript: needing it is no sign of a loss."""

import re
import sys

_FLAG = re.compile(r"--?[A-Za-z][\w-]*=?$")
_PLACES = re.compile(
    r"(?:/(?:dev|proc|sys|tmp|bin|etc|usr(?:/local)?|opt|var|home)"
    r"(?:/(?:null|stdin|stdout|stderr|bin|lib|tmp))?|~|/|\.{1,2})/?$"
)
_CODE_NAME = re.compile(r"[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+$|[A-Z]{2,}[a-z]\w*$")
_HEADS = frozenset(sys.stdlib_module_names) | frozenset(
    # Go, JavaScript, Rust, Java: the packages and globals that no file has to say.
    [
        "fmt",
        "strings",
        "errors",
        "filepath",
        "bufio",
        "bytes",
        "strconv",
        "sync",
        "regexp",
        "slog",
        "exec",
        "rand",
        "reflect",
        "utf8",
        "unicode",
        "atomic",
        "ioutil",
        "testing",
        "console",
        "JSON",
        "Math",
        "Object",
        "Array",
        "Promise",
        "process",
        "document",
        "window",
        "Buffer",
        "std",
        "java",
        "javax",
        "String",
    ]
)
_RECEIVERS = re.compile(r"(?:[a-z]{1,2}|err|ctx|cmd|req|res|resp|env|this|self)\.[A-Za-z]\w*")
_BRANDS = frozenset(
    [
        "GitHub",
        "GitLab",
        "JavaScript",
        "TypeScript",
        "OpenAI",
        "ChatGPT",
        "PostgreSQL",
        "MySQL",
        "SQLite",
        "MongoDB",
        "NodeJS",
        "GraphQL",
        "YouTube",
        "LinkedIn",
        "DevOps",
        "MacOS",
        "macOS",
        "iOS",
        "VSCode",
        "DockerHub",
        "README",
    ]
)
_STROKED = re.compile(r"[A-Za-z_]+(?:/[A-Za-z_]+)*/?")
_SMALL = re.compile(r"#\d{1,2}|\w{1,3}")
_TRAILERS = frozenset(
    {"Co-Authored-By", "Signed-Off-By", "Reviewed-By", "Content-Type", "User-Agent", "Content-Length"}
)
_MAIL = re.compile(
    r"(?:noreply|no-reply)@|^(?:user|you|your|me|name|foo|bar|test|john|jane|admin|info|someone|email|mail)\w*@example\."
)
_COMMON = frozenset(
    ["node_modules", "site-packages", "dist-packages", "__pycache__", "__init__", "__main__", "__name__", "__file__",
     "package-lock", "utf-8", "utf8", "index_js", "id_rsa", "id_ed25519", "known_hosts", "authorized_keys"]
)  # fmt: skip
"""Names that a kind of project or a machine has everywhere, with or without a slash behind them."""
_PLACEHOLDER = re.compile(r"[<>{}*…$]|\.{3}|YYYY|XXXX")


def code_name(literal: str) -> bool:
    """Whether an entity is written like a name of code, and not like a proper name."""
    return _CODE_NAME.fullmatch(literal) is not None and literal not in _BRANDS


def placeholder(literal: str) -> bool:
    """Whether it stands for a value, or leaves something out."""
    return _PLACEHOLDER.search(literal) is not None


def prose(literal: str) -> bool:
    """Whether a path is none, but words with strokes between them: "fmt/lint/tests"."""
    return _STROKED.fullmatch(literal) is not None


def known(literal: str, kind: str) -> bool:
    """Whether anybody who works with computers knows it: flags, places of every machine, standard libraries."""
    if kind == "path":
        bare = literal.strip("`'\"")
        return (
            bool(_PLACES.match(bare))
            or bare.strip("./") in _COMMON
            or bare.startswith(("http://localhost", "https://localhost"))
        )
    if _FLAG.fullmatch(literal) or _SMALL.fullmatch(literal) or _MAIL.search(literal):
        return True
    head, dot, _ = literal.partition(".")
    if dot and (head in _HEADS or _RECEIVERS.fullmatch(literal)):
        return True
    return literal in _BRANDS or literal in _TRAILERS or literal in _COMMON
