"""Files as lines and as JSON, without ever holding more than a record of them."""

import codecs
import gzip
import io
import json
import lzma
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import ijson
import msgspec

from anchorhold.audit.model import Damage

MOST_LINE = 64 << 20
"""Bytes of one line that are kept: a longer one is reported and skipped."""
WHOLE_JSON = 32 << 20
"""JSON documents up to this many bytes are decoded at once; larger ones element by element."""
MOST_TRIED = 8
"""How many times the length of a torn line may be read in search of a whole record at its end."""
HEAD = 1 << 16
"""Bytes that are looked at to tell the format."""

_decode = msgspec.json.Decoder().decode
_PLAIN = json.JSONDecoder()
_ESCAPED = re.compile(rb"\\u[dD][89a-fA-F]")
_LONE = re.compile("[\ud800-\udfff]")


def open_bytes(path: Path) -> IO[bytes]:
    """The bytes of a file as UTF-8, decompressed where it is `.xz` or `.gz`, without a byte order mark.

    UTF-16 is told by its mark, or by the zero byte beside the first bracket of JSON. Raises `OSError`.
    """
    file = _unpacked(path)
    start = file.read(4)
    encoding = next((name for mark, name in _MARKS if start.startswith(mark)), None)
    file.seek(0)
    if encoding is None:
        return file
    if encoding == "utf-8-sig":
        file.read(3)
        return file
    return io.BufferedReader(_Recoded(file, encoding), 1 << 16)


def _unpacked(path: Path) -> IO[bytes]:
    if path.suffix == ".xz":
        return lzma.open(path, "rb")
    if path.suffix == ".gz":
        return gzip.open(path, "rb")  # type: ignore[return-value]  # a GzipFile reads as any file of bytes
    return path.open("rb")


_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
    (b"{\0", "utf-16-le"), (b"[\0", "utf-16-le"), (b"\0{", "utf-16-be"), (b"\0[", "utf-16-be"),
)  # fmt: skip


class _Recoded(io.RawIOBase):
    """A file in another encoding, read as UTF-8. What cannot be decoded is handed on as a byte that is no UTF-8."""

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        super().__init__()
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            chunk = self._file.read(1 << 15)
            try:
                self._ready = self._decoder.decode(chunk, not chunk).encode("utf-8", "surrogatepass")
            except UnicodeDecodeError:
                self._decoder.reset()
                self._ready = b"\xff"
                if not chunk:
                    self._file.seek(0, io.SEEK_END)
            if not chunk and not self._ready:
                return 0
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def is_json(start: bytes) -> bool:
    """Whether a file begins as JSON does, or with the end of a torn record and a whole one on the next line."""
    torn, _, following = start.partition(b"\n")
    return _JSON.match(start) is not None or (torn.rstrip().endswith(b"}") and following.startswith(b'{"'))


_JSON = re.compile(rb'\s*(?:\{\s*(?:"|\}|$)|\[\s*(?:[\[{"\]]|$|-?\d[\d.eE+-]*\s*[,\]]))')


def keyed(start: bytes, key: str) -> bool:
    """Whether the beginning of a file has a key: not the same words in a string, where quotes are escaped."""
    return re.search(rb'(?<!\\)"' + re.escape(key.encode()) + rb'"\s*:', start) is not None


def head(path: Path) -> bytes:
    """The beginning of a file."""
    with open_bytes(path) as file:
        return file.read(HEAD)


def lines(file: IO[bytes], report: Callable[[Damage], None]) -> Iterator[bytes]:
    """The lines of a file, split at `\\n` alone: other separators occur inside JSON strings."""
    number = 0
    while line := file.readline(MOST_LINE):
        if len(line) == MOST_LINE and not line.endswith(b"\n"):
            report(Damage(kind="left-out", record=number, detail=f"a line of more than {MOST_LINE >> 20} MB"))
            while line and not line.endswith(b"\n"):
                line = file.readline(MOST_LINE)
        else:
            yield line
        number += 1


def records(file: IO[bytes], report: Callable[[Damage], None], *, first: int = 0) -> Iterator[tuple[int, Any]]:
    """The JSON values of a file of JSON lines, numbered from `first`; a line may hold several, or a torn one."""
    number = first
    for line in lines(file, report):
        if not line.strip():
            continue
        try:
            value = _decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            for value in _mend(line, number, report):
                yield number, value
                number += 1
            continue
        yield number, value
        number += 1


def _mend(line: bytes, number: int, report: Callable[[Damage], None]) -> Iterator[Any]:
    """What can be read of a line that is not one JSON value."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        report(Damage(kind="encoding", record=number, detail=f"not UTF-8 at byte {error.start}"))
        text = line.decode("utf-8", "replace")
    at, found = 0, 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at >= len(text):
            break
        try:
            value, at = _PLAIN.raw_decode(text, at)
        except (ValueError, RecursionError):
            report(
                Damage(
                    kind="torn", record=number + found, detail=f"{len(text) - at} characters that are no whole record"
                )
            )
            value = _appended(text, at)
            if value is not None:
                yield without_surrogates(value)[0]
            return
        if found == 1:
            report(Damage(kind="doubled", record=number + 1, detail="a second record on the same line"))
        found += 1
        if _ESCAPED.search(line):
            value, changed = without_surrogates(value)
            if changed:
                report(Damage(kind="surrogate", record=number + found - 1, detail=f"{changed} lone surrogates"))
        yield value


def _appended(text: str, at: int) -> dict[str, Any] | None:
    """The whole record that follows a torn one on the same line, if one does."""
    # Every bracket may be its beginning. What is tried is bounded, so that a long line costs no more than reading it.
    budget = MOST_TRIED * len(text)
    at = text.find('{"', at + 1)
    while at >= 0 and budget > 0:
        try:
            value, end = _PLAIN.raw_decode(text, at)
        except json.JSONDecodeError as error:
            budget -= error.pos - at
        except (ValueError, RecursionError):
            return None
        else:
            if isinstance(value, dict) and not text[end:].strip():
                return value
            budget -= end - at
        at = text.find('{"', at + 1)
    return None


def without_surrogates(value: Any) -> tuple[Any, int]:
    """The value with each lone surrogate replaced by U+FFFD, and how many there were."""
    try:
        return _clean(value)
    except RecursionError:
        return None, 1


def _clean(value: Any) -> tuple[Any, int]:
    if isinstance(value, str):
        return _LONE.subn("\ufffd", value)
    if isinstance(value, list):
        pairs = [_clean(item) for item in value]
        return [item for item, _ in pairs], sum(count for _, count in pairs)
    if isinstance(value, dict):
        named = {_LONE.sub("\ufffd", key): _clean(item) for key, item in value.items()}
        return {key: item for key, (item, _) in named.items()}, sum(count for _, count in named.values())
    return value, 0


def document(path: Path, report: Callable[[Damage], None]) -> Any:
    """A whole JSON document, or none where it is larger than `WHOLE_JSON` or torn."""
    with open_bytes(path) as file:
        data = file.read(WHOLE_JSON + 1)
    if len(data) > WHOLE_JSON:
        return None
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        value, changed = without_surrogates(json.loads(data.decode("utf-8", "replace")))
    except (ValueError, RecursionError) as error:
        report(Damage(kind="torn", record=0, detail=f"not a whole JSON document: {error}"))
        return None
    if changed:
        report(Damage(kind="surrogate", record=0, detail=f"{changed} lone surrogates"))
    return value


def elements(path: Path, prefix: str, report: Callable[[Damage], None]) -> Iterator[Any]:
    """The elements of an array inside a JSON document, one by one; what stands before a tear is still given."""
    with open_bytes(path) as file:
        try:
            for value in ijson.items(file, prefix, use_float=True):
                clean, changed = without_surrogates(value)
                if changed:
                    report(Damage(kind="surrogate", record=0, detail=f"{changed} lone surrogates"))
                yield clean
        except (ijson.JSONError, UnicodeDecodeError) as error:
            report(Damage(kind="torn", record=0, detail=f"the document ends or breaks in the middle: {error}"))
