"""A right adapter of a worthless compactor, made wrong in one way: `python smoke_adapter.py KIND METHOD`.

Written against the protocol alone. The compactor behind it keeps turns, forgets all but the last when it compacts,
and answers every question with nonsense that is in form.
"""

import json
import os
import sys
import time
from pathlib import Path

KIND = sys.argv[1] if len(sys.argv) > 1 else "right"
METHOD = sys.argv[2] if len(sys.argv) > 2 else ""
LEFT = Path(sys.argv[3]) if len(sys.argv) > 3 else None
"""Where an adapter that keeps something for the next program keeps it."""

ANSWER = {"kind": "unanchored"}
DONE = {"kind": "committed"}
RESULTS = {
    "close": None,
    "pointers": [{"summary": "s", "token": "tok"}],
    "get": ANSWER,
    "search": ANSWER,
    "reconstitute": ANSWER,
    "manifest": [{"literal": "never said"}],
    "tombstones": [],
    "tombstone": DONE,
    "supersede": DONE,
    "evict": DONE,
    "expire": None,
    "reopen": None,
    "resume": None,
    "crash": None,
    "corrupt": False,
    "switch": None,
    "status": "lossless",
    "degraded_since": None,
    "clear": None,
    "rewind": None,
    "fork": None,
    "forget": DONE,
    "files": ["/dev/null"],
    "hold_copies": None,
    "settle": None,
    "ratios": {"committed": 9, "pending": 10, "unresolvable": -1},
    "clock": None,
    "lose_power": None,
    "fail_store": None,
    "audits": [],
    "override": DONE,
    "begin": None,
    "advance": {"done": True},
    "shutdown": None,
}
OPERATIONS = ["open", "append", "compact", "live", *(name for name in RESULTS if name != "shutdown")]
PARAMS = {
    "open": ("settings",),
    "resume": ("settings",),
    "append": ("turn",),
    "get": ("token",),
    "search": ("literal",),
    "initialize": ("protocol",),
}
FAILING = {"fails": -32002, "fails-once": -32002, "declines": -32001, "loses-the-session": -32002}
"""Ways in which an operation of the compactor ends with an error, and its code."""
window: list = []
tried = 0
lost = False
"""Whether there is no session any more, and whatever is asked says so."""
asked = 0


class BadError(Exception):
    """A request that is answered with an error."""


def output(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def write(message: dict) -> None:
    output(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def summarise(request: object, read) -> str:
    global asked
    asked += 1
    messages = [item["text"] or "" for item in window]
    params = {"messages": messages, "request": request}
    if KIND == "summarise-out-of-schema":
        params = {"prompt": "\n".join(messages)}
    if KIND == "summarise-wrong-request":
        params["request"] = 4711
    method = "sampling" if KIND == "summarise-other-method" else "summarise"
    write({"id": asked, "method": method, "params": params})
    answer = json.loads(read())
    if "error" in answer:
        if KIND == "dies-of-a-failing-model":
            sys.exit("the model failed")
        if KIND == "hangs-on-a-failing-model":
            time.sleep(600)
        if KIND == "blames-itself-for-a-failing-model":
            raise BadError(-32004, "the model failed")
        raise BadError(-32002, "the model failed")
    text = answer["result"]["text"]
    if KIND == "dies-of-an-empty-reply" and not text:
        sys.exit("IndexError: no first line")
    if KIND == "dies-of-control-characters" and "\x00" in text:
        sys.exit("ValueError: embedded null byte")
    if KIND == "dies-of-a-large-reply" and len(text) > 100_000:
        sys.exit("too long")
    return text


def call(method: str, params: dict, request: object, read) -> object:
    global tried, lost
    lost = lost and method not in ("initialize", "open", "shutdown")
    if lost:
        raise BadError(-32001, "no session is open")
    for name in PARAMS.get(method, ()):
        if name not in params:
            raise BadError(-32602, f"{method} has no {name}")
    if method == METHOD and KIND in FAILING and (method != "append" or isinstance(params["turn"], dict)):
        tried += 1
        lost = KIND == "loses-the-session"
        if KIND != "fails-once" or tried == 1:
            raise BadError(FAILING[KIND], f"boom number {tried}")
    if KIND == "fails" and method == "pointers" and not any(item["kind"] == "summary" for item in window):
        return []
    if method == "initialize":
        if params["protocol"] != 1 and KIND != "takes-any-version":
            raise BadError(-32602, "protocol 1 only")
        return {"protocol": 1, "description": description()}
    if method == "open":
        if KIND != "keeps-the-window":
            window.clear()
        if KIND == "keeps-a-file" and LEFT is not None and LEFT.exists():
            window.extend(json.loads(LEFT.read_text()))
        return {name: params["settings"].get(name) for name in ("session", "user", "branch", "unit")}
    if method == "append":
        turn = params["turn"]
        if not isinstance(turn, dict):
            raise BadError(-32602, "a turn is an object")
        text = turn.get("text")
        if KIND == "shows-base64" and text is None:
            window.append({"id": turn["id"], "kind": "raw", "turn": turn["id"], "text": turn["data"]})
        else:
            window.append(
                {"id": turn["id"], "kind": "raw", "turn": turn["id"], "text": text, "data": turn.get("data")}
            )
        if KIND == "keeps-a-file" and LEFT is not None:
            LEFT.write_text(json.dumps(window))
        return None
    if method == "compact":
        if len(window) < 2:
            return {"kind": "nothing-to-do"}
        text = "made up" if KIND == "calls-a-model-of-its-own" else summarise(request, read)
        window[:-1] = [{"id": "s", "kind": "summary", "text": text}]
        return {"kind": "committed", "summary": "s"}
    if method == "live":
        return window
    return RESULTS[method]


def description() -> dict:
    told: dict = {"name": "worthless", "version": "0", "operations": OPERATIONS, "mechanisms": ["summariser"]}
    told["crash_points"] = ["staged", "committed"]
    match KIND:
        case "no-name":
            told["name"] = " "
        case "no-crash-points":
            told["crash_points"] = []
        case "same-crash-points":
            told["crash_points"] = ["staged", "staged"]
        case "lacks":
            told["operations"] = [name for name in OPERATIONS if name != METHOD]
        case "declares-what-it-does-not-offer":
            told["operations"] = [name for name in OPERATIONS if name != "status"]
            told["mechanisms"] = ["status"]
        case "hides-what-it-offers":
            told["hidden"] = {"status": "cannot be read"}
        case "unknown-mechanism":
            told["mechanisms"] = ["levitation"]
        case "summarise-wrong-request":
            told["mechanisms"] = ["summariser", "concurrency"]
    return told


def spoilt(method: str, identity: object, result: object, read) -> bool:
    """Answer in the way that is asked for, and say whether it was."""
    good = {"id": identity, "result": result}
    match KIND:
        case "noise":
            output(b"Loading model... done\n")
            write(good)
        case "blank-line":
            output(b"\n")
            write(good)
        case "no-line-feed":
            output(json.dumps({"jsonrpc": "2.0", **good}).encode())
        case "pretty":
            output(json.dumps({"jsonrpc": "2.0", **good}, indent=1).encode() + b"\n")
        case "unknown-field":
            write({**good, "result": {**result, "extra": 1} if isinstance(result, dict) else {"extra": 1}})
        case "wrong-type":
            write({**good, "result": 5})
        case "no-result":
            write({"id": identity})
        case "no-version":
            output(json.dumps(good).encode() + b"\n")
        case "wrong-id":
            write({**good, "id": 4711})
        case "text-id":
            write({**good, "id": str(identity)})
        case "twice":
            output((json.dumps({"jsonrpc": "2.0", **good}) + "\n").encode() * 2)
        case "asks-after":
            write(good)
            write({"id": "x", "method": "summarise", "params": {"messages": []}})
        case "notifies":
            write({"method": "log", "params": {}})
            write(good)
        case "dies":
            sys.exit(f"AttributeError: 'NoneType' object has no attribute {method!r}")
        case "hangs":
            time.sleep(600)
        case "closes-output":
            os.close(1)
            time.sleep(600)
        case "not-implemented":
            write({"id": identity, "error": {"code": -32601, "message": "not implemented"}})
        case "params-refused":
            write({"id": identity, "error": {"code": -32602, "message": "what is this?"}})
        case "at-fault":
            write({"id": identity, "error": {"code": -32004, "message": "not installed"}})
        case "error-without-message":
            write({"id": identity, "error": {"code": -32001}})
        case "surrogate":
            output(b'{"jsonrpc": "2.0", "id": %d, "result": "\\ud800"}\n' % identity)
        case _:
            return False
    return True


def reader():
    """Reads a line of standard input in the way that is asked for."""
    if KIND == "reads-latin-1":
        stream = os.fdopen(0, encoding="latin-1", newline="\n")
        return lambda: stream.readline().encode()
    if KIND == "drops-non-ascii":
        stream = os.fdopen(0, encoding="ascii", errors="ignore", newline="\n")
        return lambda: stream.readline().encode()
    if KIND == "splits-at-unicode-ends":
        lines: list[str] = []
        raw = os.fdopen(0, "rb")

        def split() -> bytes:
            if not lines:
                lines.extend(raw.readline().decode().splitlines())
            return lines.pop(0).encode() if lines else b""

        return split
    if KIND == "one-read-a-message":
        return lambda: os.read(0, 1 << 22)
    if KIND == "small-reads":
        return lambda: os.read(0, 65536)
    if KIND == "decodes-pieces":
        rest: list[str] = [""]

        def pieces() -> bytes:
            while "\n" not in rest[0]:
                chunk = os.read(0, 65536)
                if not chunk:
                    return b""
                rest[0] += chunk.decode("utf-8", "replace")
            line, _, rest[0] = rest[0].partition("\n")
            return line.encode()

        return pieces
    if KIND == "short-lines":
        stream = os.fdopen(0, "rb")
        return lambda: stream.readline(100_000)
    stream = os.fdopen(0, "rb")
    return stream.readline


def main() -> None:
    if KIND == "dies-at-start":
        sys.exit("ImportError: no module named 'compactor'")
    if KIND == "prints-at-start":
        output(b"Welcome!\n")
    read = reader()
    while True:
        line = read()
        if not line:
            if KIND == "stays-after-the-end":
                time.sleep(600)
            return
        identity = None
        try:
            try:
                request = json.loads(line)
            except (ValueError, RecursionError) as error:
                if KIND == "dies-of-bad-json":
                    raise
                if KIND == "ignores-bad-json":
                    continue
                raise BadError(-32002 if KIND == "blames-the-compactor" else -32700, f"not JSON: {error}") from None
            identity = request.get("id") if isinstance(request, dict) else None
            if not isinstance(request, dict) or "method" not in request:
                raise BadError(-32600, "no request")
            method, params = request["method"], request.get("params", {})
            if KIND == "takes-unknown-methods" and method == "levitate":
                write({"id": identity, "result": None})
                continue
            if method not in ("initialize", "shutdown", *OPERATIONS) or (KIND == "lacks" and method == METHOD):
                raise BadError(-32601, f"no {method}")
            if not isinstance(params, dict):
                raise BadError(-32602, "params go by name")
            if KIND == "strict-params" and any("later" in name for name in params):
                raise BadError(-32602, "unknown field")
            result = call(method, params, identity, read)
        except BadError as bad:
            code, message = bad.args
            write(
                {"id": None if KIND == "errors-without-id" else identity, "error": {"code": code, "message": message}}
            )
            continue
        if method != METHOD or not spoilt(method, identity, result, read):
            write({"id": identity, "result": result})
        if method == "shutdown":
            if KIND == "stays-after-shutdown":
                time.sleep(600)
            if KIND == "prints-at-the-end":
                output(b"Goodbye!\n")
            return


main()
