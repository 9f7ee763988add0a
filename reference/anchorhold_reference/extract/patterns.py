"""The forms of literals: what in a text can be verified by itself.

Most literals are one word, between white space; `WORD` finds what may be one inside such a word, and `words` decides.
Times, quotations and bounds may reach over several words and are looked for in a line, where a word hints at them.
"""

import re

_URL = r"(?:https?|ssh|git|ftp|file|s3|postgres(?:ql)?|redis|sqlite)://[^\s<>\"'`)\]}\\]*[^\s<>\"'`)\]}\\.,;:!?*]"
_EMAIL = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
EXTENSION = (
    r"(?:py|pyi|js|mjs|cjs|ts|tsx|jsx|json|jsonl|ya?ml|toml|md|mdx|rst|txt|csv|tsv|html?|css|scss|sh|bash|go|rs|java"
    r"|kt|c|h|cc|cpp|hpp|rb|php|sql|db|sqlite3?|ini|cfg|conf|lock|log|xml|proto|ipynb|mod|sum|pdf|png|jpe?g|svg|gz"
    r"|xz|zip|tar|tgz|bak|tmp|service|vue|swift|lua|pl|ex|exs|tf|deb|rpm|so(?:\.\d+)*|traj|patch|diff)"
)
_SEGMENT = r"(?:[\w@%+~=$.\-]|\[[\w.]+\]|\{[\w.,]+\})*(?:[\w@%+~=$\-]|\[[\w.]+\]|\{[\w.,]+\})"
_GLOB = r"\*{1,2}(?:\.\w+)?(?![\w*])"
_PATH = (
    rf"(?<!<)(?:~|\.{{1,2}}|\$\{{?\w+\}}?)?(?:/(?:{_GLOB}|{_SEGMENT}))+/?"
    r"|[A-Za-z]:\\(?!n\b|t\b)[\w.\-\\]*[\w\-]"
    rf"|[A-Za-z]:(?:/{_SEGMENT})+/?"
    rf"|[\w@][\w.@\-]*(?:/(?:{_GLOB}|{_SEGMENT}))+/?"
    rf"|\.[\w\-]+(?:/(?:{_GLOB}|{_SEGMENT}))+/?"
    r"|[A-Za-z][\w.\-]{2,}/(?![\w/*])"
    r"|\.(?:git\w*|env|venv|vscode|config|ssh|docker\w*|claude|cache|npm|local|idea|\w+rc|\w+ignore)(?![\w.(/])"
    rf"|(?!(?:this|self|process|os|sys|ctx|req|res)\.)\*?[\w\-]*(?:\.[\w\-]+)*\.{EXTENSION}(?![\w(]|\.\w|-\w)"
)
_TAG = r"#[A-Za-z\d][\w-]*|@[A-Za-z][\w-]*(?:/[\w-]+)?"
_OPTION = r"--?[A-Za-z][\w-]*\w"
UNIT = (
    r"(?:%|‰|°[CF]?|[kKMGTP]i?[Bb](?:/s|ps)?|bytes?|bits?|B|[mµnu]?s|secs?|seconds?|milliseconds?|mins?|minutes?"
    r"|hours?|hrs?|h|days?|weeks?|months?|years?|characters?|chars?|tokens?|lines?|files?|items?|rows?|turns?"
    r"|requests?|retries|times|x|×|px|[kcm]?m|kg|g|[kKMG]?Hz|USD|EUR|GBP|dollars?|euros?|cents?|percent|qps|rps|req/s"
    r"|/s)(?![\w/])"
)
_NUMBER = (
    r"(?:[$€£][+-]?|[+-])?(?:0x[0-9a-fA-F]+|\d+(?:[,_]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
    rf"(?:{UNIT}|[kKMB])?(?!\w|[.\-]\w)"
)
_TIME = (
    r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?(?!\w|-\w)"
    r"|(?<!:)\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:[ap]m|[AP]M|Z)?(?![\w:])"
)
_CHAIN = r"\w+(?:[.\-]\w+)*"

# Behind a line feed or tab that is written as an escape a word begins as behind a real one.
_BEGIN = r"(?:(?<![\w@./\\-])|(?<=[^\\]\\[nrt])|(?<=^\\[nrt]))"
_SIMPLE = (
    rf"(?P<time>{_TIME})"
    r"|(?P<port>[a-z][\w\-]*(?:\.[\w\-]+)*:\d{2,5}\b(?!:)|\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?![\w.]))"
    rf"|(?P<tag>{_TAG})"
    rf"|(?P<option>{_OPTION})"
    rf"|(?P<number>{_NUMBER})"
    rf"|(?P<chain>{_CHAIN})"
)
WORD = re.compile(rf"{_BEGIN}(?:(?P<url>{_URL})|(?P<email>{_EMAIL})|(?P<path>{_PATH})|{_SIMPLE})")
"""What may be a literal in a word, at each place where one may begin."""
SIMPLE_WORD = re.compile(rf"{_BEGIN}(?:{_SIMPLE})")
"""The same, for words in which none of `PATH_SIGNS` stands."""
PATH_SIGNS = re.compile(r"[/\\.]")

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t(?:ember)?)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
TIMESTAMP = re.compile(
    r"(?<![\w@./\\:-])(?:"
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})\b)?)?(?!\w|-\w)"
    r"|\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?(?:[ap]m|[AP]M|UTC|GMT|Z)\b)?(?![\w:])"
    rf"|(?:\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?)?{_MONTH}\.?\s+\d{{1,4}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?(?!\w)"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+\d{{4}})?(?!\w)"
    r"|\d{1,2}/\d{1,2}/\d{2,4}(?![\w/])"
    r")"
)
QUOTATION = re.compile(r"(?<![\w\\])\"(?=\S)[^\"\n]{2,400}?(?<=\S)\"(?!\w)|“[^”\n]{2,400}”|«[^»\n]{2,400}»")

BOUND = re.compile(
    r"(?:(?P<most>at most|no more than|not more than|up to|maximum(?: of)?|max\.?|under|below|less than|fewer than"
    r"|within"
    r"|<=|≤|<)"
    r"|(?P<least>at least|no less than|no fewer than|minimum(?: of)?|min\.?|over|above|more than|greater than|>=|≥|>)"
    r"|(?P<exact>exactly|precisely))\s*$",
    re.IGNORECASE,
)
BOUND_WORDS = frozenset(
    [
        "most",
        "least",
        "than",
        "to",
        "of",
        "maximum",
        "max",
        "max.",
        "minimum",
        "min",
        "min.",
        "under",
        "below",
        "within",
        "over",
        "above",
        "exactly",
        "precisely",
    ]
)
"""Last words of a bound: where the word before a number is none of these and has none of `<>≤≥`, there is none."""
MONTHS = frozenset(
    [
        "Jan",
        "January",
        "Feb",
        "February",
        "Mar",
        "March",
        "Apr",
        "April",
        "May",
        "Jun",
        "June",
        "Jul",
        "July",
        "Aug",
        "August",
        "Sep",
        "Sept",
        "September",
        "Oct",
        "October",
        "Nov",
        "November",
        "Dec",
        "December",
    ]
)
