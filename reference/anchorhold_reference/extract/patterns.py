"""Literals: what in a text can be verified by itself, found by one pass over it.

One pattern with named alternatives, the most telling first: where two could begin at the same place the first
wins, so a path is not taken for an identifier, nor a time for a number.
"""

import re

_TIMESTAMP = (
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})\b)?)?(?!\d)"
    r"|\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:\s?(?:[ap]m|UTC|GMT|Z)\b)?(?![\w:])"
    r"|(?:\d{1,2}\s+)?(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sep(?:t(?:ember)?)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?\s+\d{1,4}(?:st|nd|rd|th)?(?:,?\s+\d{4})?(?!\w)"
    r"|\d{1,2}/\d{1,2}/\d{2,4}(?![\w/])"
)
_URL = r"(?:https?|ssh|git|ftp|file|s3|postgres(?:ql)?|redis|sqlite)://[^\s<>\"'`)\]}]*[^\s<>\"'`)\]}.,;:!?]"
_EMAIL = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
_PATH = (
    r"(?:~|\.{1,2}|\$\{?\w+\}?)?(?:/[\w.@%+~=,:\-\[\]{}*$]*[\w@%+~=\-*\]}$])+/?"
    r"|[A-Za-z]:\\(?:[\w.\- ]+\\)*[\w.\-]+"
    r"|[\w.@\-]+(?:/[\w.@+\-*]+)*/[\w.@+\-*]*[\w*](?:\.\w+)?/?"
    r"|[\w\-]+(?:\.[\w\-]+)*\.(?:py|pyi|js|mjs|cjs|ts|tsx|jsx|json|jsonl|ya?ml|toml|md|rst|txt|csv|tsv|html?|css|scss|sh"
    r"|bash"
    r"|go|rs|java|kt|c|h|cc|cpp|hpp|rb|php|sql|db|sqlite3?|ini|cfg|conf|lock|log|xml|proto|ipynb|env|mod|sum|pdf|png"
    r"|jpe?g"
    r"|svg|gz|xz|zip|tar|tgz|bak|tmp|service|vue|swift|lua|pl|r|ex|exs|tf)\b(?![\w(])"
)
_IDENTIFIER = (
    r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
    r"|(?:toolu|call|msg|req|chatcmpl|resp|run|sess|user|org|proj)[_-][A-Za-z0-9]{6,}"
    r"|(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}(?![\w-])"
    r"|\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?![\w.])"
    r"|[A-Z][A-Z0-9]+-\d+\b"
    r"|\#\d+\b"
    r"|[a-z][\w.\-]*:\d{2,5}\b(?!:)"
    r"|[A-Za-z]+(?:-[A-Za-z0-9]+)*-\d[\w]*(?:-[\w]+)*"
    r"|[A-Za-z]\w*(?:_\w+)+(?:\.\w+)*"
    r"|_\w+[A-Za-z]\w*"
    r"|[a-z]+\d+[a-z0-9]*(?:-[a-z0-9]+)*\b"
    r"|v\d+(?:\.\d+)+(?:[-+][\w.]+)?"
    r"|--?[a-z][\w-]+(?==)|--[a-z][\w-]+"
    r"|[a-z]+(?:[A-Z][a-z0-9]+)+\b"
)
_UNIT = (
    r"\s?(?:%|‰|°[CF]?|[kKMGTP]i?[Bb](?:/s|ps)?|bytes?\b|bits?\b|B\b|[mµnu]?s\b|ms\b|secs?\b|seconds?\b"
    r"|milliseconds?\b"
    r"|mins?\b|minutes?\b|hours?\b|hrs?\b|h\b|days?\b|weeks?\b|months?\b|years?\b|tokens?\b|lines?\b|files?\b|items?\b"
    r"|rows?\b"
    r"|turns?\b|requests?\b|retries\b|times\b|x\b|×|px\b|[kcm]?m\b|km\b|kg\b|g\b|[KMG]?Hz\b|USD\b|EUR\b|GBP\b|dollars?\b"
    r"|euros?\b"
    r"|percent\b|qps\b|rps\b|req/s\b|/s\b)"
)
_NUMBER = (
    r"[$€£]\s?\d+(?:[,_]\d{3})*(?:\.\d+)?(?:[kKMB]\b)?"
    r"|[+-]?(?:0x[0-9a-fA-F]+|\d+(?:[,_]\d{3})+(?:\.\d+)?|\d+\.\d+(?:\.\d+)*(?:[eE][+-]?\d+)?|\d+(?:[eE][+-]?\d+)?)"
    r"(?:" + _UNIT + r")?(?!\w)"
)
_QUOTATION = r"\"(?=\S)[^\"\n]{2,400}?(?<=\S)\"(?!\w)|“[^”\n]{2,400}”|«[^»\n]{2,400}»"
_ENTITY = (
    r"@[A-Za-z][\w-]*(?:/[\w-]+)?"
    r"|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+"
    r"|[A-Z][A-Za-z0-9]+(?:\s(?:of|de|van|der|and|&)\s[A-Z][A-Za-z0-9]+|\s[A-Z][A-Za-z0-9]+)+"
    r"|[A-Z]{2,}[A-Z0-9]*\b"
    r"|(?<=[a-z,;]\s)[A-Z][a-z]{2,}\b"
)

LITERAL = re.compile(
    r"(?<![\w@./\\-])(?:"
    rf"(?P<path>{_URL})"
    rf"|(?P<timestamp>{_TIMESTAMP})"
    rf"|(?P<email>{_EMAIL})"
    rf"|(?P<quotation>{_QUOTATION})"
    rf"|(?P<ip>\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?::\d{{1,5}})?(?![\w.]))"
    rf"|(?P<file>{_PATH})"
    rf"|(?P<identifier>{_IDENTIFIER})"
    rf"|(?P<entity>{_ENTITY})"
    rf"|(?P<number>{_NUMBER})"
    r")"
)

KIND_OF = {
    "path": "path",
    "file": "path",
    "timestamp": "timestamp",
    "email": "identifier",
    "ip": "identifier",
    "quotation": "quotation",
    "identifier": "identifier",
    "entity": "entity",
    "number": "number",
}

BOUND = re.compile(
    r"(?:(?P<most>at most|no more than|not more than|up to|maximum(?: of)?|max\.?|under|below|less than|fewer than"
    r"|within"
    r"|<=|≤|<)"
    r"|(?P<least>at least|no less than|no fewer than|minimum(?: of)?|min\.?|over|above|more than|greater than|>=|≥|>)"
    r"|(?P<exact>exactly|precisely))\s*$",
    re.IGNORECASE,
)
