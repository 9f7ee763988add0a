"""Adapters that are wrong in one way each, written against the protocol alone: `python fake_adapter.py WAY`."""

import json
import os
import signal
import sys
import time

WAY = sys.argv[1] if len(sys.argv) > 1 else "good"
OPERATIONS = ["open", "append", "compact", "live", "close"]


def write(*messages: object) -> None:
    """All lines in one write, so that they arrive together."""
    data = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    while data:
        data = data[os.write(1, data) :]


def result(request: dict, value: object) -> dict:
    return {"jsonrpc": "2.0", "id": request["id"], "result": value}


def error(request: dict, code: int, message: str) -> dict:
    return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}}


def description(request: dict) -> dict:
    operations = OPERATIONS
    if WAY == "lacks-live":
        operations = [o for o in OPERATIONS if o != "live"]
    if WAY == "offers-unknown":
        operations = [*OPERATIONS, "levitate"]
    protocol = 2 if WAY == "other-protocol" else 1
    return result(
        request, {"protocol": protocol, "description": {"name": "fake", "version": "0", "operations": operations}}
    )


def compact(request: dict) -> None:
    good = result(request, {"kind": "nothing-to-do"})
    match WAY:
        case "dies":
            sys.stderr.write("first\nRuntimeError: the store is gone\n\n")
            sys.exit(3)
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "closes-output":
            os.close(1)
            time.sleep(60)
        case "noise":
            os.write(1, b"Loading model... done\n")
            write(good)
        case "blank-line":
            os.write(1, b"\n")
            write(good)
        case "not-utf8":
            os.write(1, b'{"jsonrpc": "2.0", "id": 3, "result": {"kind": "\xff\xfe"}}\n')
        case "lone-surrogate":
            write(result(request, {"kind": "failed", "reason": "\ud800"}))
        case "terminal-escape":
            os.write(1, b"\x1b[2J\x1b[31mred\x07\r\n")
        case "wrong-id":
            write({**good, "id": 999})
        case "text-id":
            write({**good, "id": str(request["id"])})
        case "no-id":
            write({"jsonrpc": "2.0", "result": {"kind": "nothing-to-do"}})
        case "old-id":
            write({**good, "id": request["id"] - 1})
        case "both":
            write({**good, "error": {"code": -32001, "message": "x"}})
        case "neither":
            write({"jsonrpc": "2.0", "id": request["id"]})
        case "no-version":
            write({"id": request["id"], "result": {"kind": "nothing-to-do"}})
        case "misspelt":
            write(result(request, {"kind": "committed", "sumary": "s1"}))
        case "unknown-kind":
            write(result(request, {"kind": "done"}))
        case "wrong-type":
            write(result(request, "done"))
        case "deep":
            os.write(1, b'{"jsonrpc": "2.0", "id": 3, "result": ' + b"[" * 200_000 + b"\n")
        case "hangs":
            time.sleep(60)
        case "half-a-line":
            os.write(1, b'{"jsonrpc": "2.0", ')
            time.sleep(60)
        case "huge-line":
            while True:
                os.write(1, b"x" * 65536)
        case "answers-twice":
            write(good, good)
        case "asks-after":
            write(good, {"jsonrpc": "2.0", "id": "a", "method": "summarise", "params": {"messages": []}})
        case "asks-other":
            write({"jsonrpc": "2.0", "id": "a", "method": "sampling", "params": {}})
        case "notifies":
            write({"jsonrpc": "2.0", "method": "summarise", "params": {"messages": []}})
        case "asks-out-of-schema":
            write({"jsonrpc": "2.0", "id": "a", "method": "summarise", "params": {"prompt": "x"}})
        case "asks":
            write({"jsonrpc": "2.0", "id": "a", "method": "summarise", "params": {"messages": ["x", "y"]}})
            answer = json.loads(sys.stdin.readline())
            write(result(request, {"kind": "committed", "reason": json.dumps(answer, sort_keys=True)}))
        case "definite":
            write(error(request, -32001, "it did not happen"))
        case "indefinite":
            write(error(request, -32002, "it may have"))
        case "other-code":
            write(error(request, -32603, "internal error"))
        case "at-fault":
            write(error(request, -32004, "the compactor is not installed"))
        case "unknown-operation":
            write(error(request, -32601, "no such method"))
        case "stderr-flood":
            for n in range(4000):
                sys.stderr.write(f"{n:06} {'log' * 80}\n")
            sys.stderr.flush()
            write(good)
        case _:
            write(good)


def main() -> None:
    if WAY == "dies-at-start":
        sys.exit("ImportError: no module named 'compactor'")
    if WAY == "never-answers":
        time.sleep(60)
    if WAY == "prints-at-start":
        os.write(1, b"Welcome!\n")
    if WAY == "leaves-a-child" and os.fork() == 0:
        # Holds every stream open and ignores polite signals.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(60)
        os._exit(0)
    turns = []
    for line in sys.stdin:
        request = json.loads(line)
        method = request["method"]
        if method == "initialize" and WAY == "asks-early":
            write({"jsonrpc": "2.0", "id": "a", "method": "summarise", "params": {"messages": []}})
        elif method == "initialize" and WAY == "refuses":
            write(error(request, -32002, "not today"))
        elif method == "initialize":
            write(description(request))
        elif method == "open":
            turns.clear()
            write(result(request, request["params"]["settings"]))
        elif method == "append":
            turns.append(request["params"]["turn"])
            write(result(request, None))
        elif method == "live":
            write(result(request, [{"id": t["id"], "kind": "raw", "text": t["text"]} for t in turns]))
        elif method == "compact":
            compact(request)
        elif method == "close" and WAY == "close-fails":
            write(error(request, -32002, "cannot close"))
        elif method == "shutdown":
            if WAY == "ignores-shutdown":
                time.sleep(60)
            write(result(request, None))
            if WAY == "stays":
                time.sleep(60)
            return
        else:
            write(result(request, None))


main()
