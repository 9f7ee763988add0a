"""The scripted model server, seen by the official clients: every API, streaming and not, every mode."""

import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import anthropic
import openai
import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState
from uv import find_uv_bin

from anchorhold.compactor import Reply, Shown, SummariserError
from anchorhold.model_server import Line, Script, ScriptError, Served, ToolUse, serving
from anchorhold.model_server.script import EVERY_MODE, OF_A_SERVER
from anchorhold.summariser import MODES, ScriptedSummariser
from anchorhold_reference.summarisers import SummariserError as ReferenceSummariserError
from anchorhold_reference.summarisers import SummariserTimeoutError
from anchorhold_reference.summarisers.anthropic import AnthropicSummariser
from anchorhold_reference.summarisers.openai import OpenAISummariser
from anchorhold_reference.values import Request
from anchorhold_spec.vocabulary import Fact

FACTS = (
    Fact(text="The port of relay-3 is 8081.", literal="8081", subject="relay-3", attribute="port"),
    Fact(text="Do not restart db-1.", literal="Do not restart db-1", kind="negation"),
)
INSTRUCTIONS = "Summarise the conversation."
TURN = f"{FACTS[0].text} {FACTS[1].text} Ünïcode \u2028 stays."
SHOWN = (INSTRUCTIONS, TURN)
TOOL = {"name": "list_files", "description": "Lists files.", "parameters": {"type": "object", "properties": {}}}
APIS = ("chat", "responses", "messages")


@functools.cache
def made() -> tuple[openai.OpenAI, anthropic.Anthropic]:
    """To make a client costs more than all that is asked of it here."""
    return openai.OpenAI(api_key="k", max_retries=0), anthropic.Anthropic(api_key="k", max_retries=0)


@pytest.fixture(scope="module", autouse=True)
def _closed_clients() -> Iterator[None]:
    yield
    for client in made():
        client.close()
    made.cache_clear()


@contextlib.contextmanager
def clients(url: str, *, timeout: float = 20.0) -> Iterator[tuple[openai.OpenAI, anthropic.Anthropic]]:
    one, other = made()
    yield (
        one.with_options(base_url=f"{url}/v1", timeout=timeout),
        other.with_options(base_url=url, timeout=timeout),
    )


def ask(url: str, api: str, *, stream: bool, tools: bool = False, timeout: float = 20.0) -> tuple[str, str, object]:
    """One request as a compactor makes it: text, finish in the suite's words, and the tool call (name, arguments)."""
    with clients(url, timeout=timeout) as (one, other):
        return {"chat": chat, "responses": responses, "messages": messages}[api](
            one if api != "messages" else other, stream, tools
        )


def chat(client: openai.OpenAI, stream: bool, tools: bool) -> tuple[str, str, object]:
    offered = {"tools": [{"type": "function", "function": TOOL}]} if tools else {}
    given = [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": TURN}]
    if stream:
        # Its helper for streams refuses a text that was cut: what comes is put together here.
        state = ChatCompletionStreamState()
        for chunk in client.chat.completions.create(model="m", messages=given, stream=True, **offered):
            state.handle_chunk(chunk)
        choice = state.current_completion_snapshot.choices[0]
    else:
        choice = client.chat.completions.create(model="m", messages=given, **offered).choices[0]
    message = choice.message
    if message.refusal is not None:
        assert message.content is None
        return message.refusal, "refusal", None
    ends = {"length": "length", "tool_calls": "tool-call", "stop": "stop", "content_filter": "content-filter"}
    finish = ends[choice.finish_reason]
    call = message.tool_calls[0].function if message.tool_calls else None
    return message.content or "", finish, call and (call.name, json.loads(call.arguments))


def responses(client: openai.OpenAI, stream: bool, tools: bool) -> tuple[str, str, object]:
    offered = {"tools": [{"type": "function", **TOOL}]} if tools else {}
    if stream:
        with client.responses.stream(model="m", instructions=INSTRUCTIONS, input=TURN, **offered) as events:
            response = None
            for event in events:
                if event.type in ("response.completed", "response.incomplete"):
                    response = event.response
    else:
        response = client.responses.create(model="m", instructions=INSTRUCTIONS, input=TURN, **offered)
    assert response is not None
    (item,) = response.output
    if item.type == "function_call":
        return "", "tool-call", (item.name, json.loads(item.arguments))
    (part,) = item.content
    if part.type == "refusal":
        return part.refusal, "refusal", None
    if response.status == "incomplete":
        ends = {"max_output_tokens": "length", "content_filter": "content-filter"}
        return part.text, ends[response.incomplete_details.reason], None
    return part.text, "stop", None


def messages(client: anthropic.Anthropic, stream: bool, tools: bool) -> tuple[str, str, object]:
    tool = {"name": TOOL["name"], "input_schema": TOOL["parameters"]}
    more = {"tools": [tool]} if tools else {}
    given = {"model": "m", "max_tokens": 100, "system": INSTRUCTIONS, "messages": [{"role": "user", "content": TURN}]}
    if stream:
        with client.messages.stream(**given, **more) as events:
            message = events.get_final_message()
    else:
        message = client.messages.create(**given, **more)
    text = "".join(block.text for block in message.content if block.type == "text")
    calls = [(block.name, block.input) for block in message.content if block.type == "tool_use"]
    words = {"end_turn": "stop", "max_tokens": "length", "refusal": "refusal", "tool_use": "tool-call"}
    return text, words[message.stop_reason], calls[0] if calls else None


def hook(mode: str) -> Reply:
    """What the hook of the suite answers to the same."""
    summariser = ScriptedSummariser()
    summariser.learn(None, FACTS)
    summariser.tell(mode)
    return summariser(Shown(messages=SHOWN))


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", APIS)
def test_each_mode_of_the_hook_is_answered_as_the_hook_answers_it(api: str, stream: bool) -> None:
    # A tool is called here, and not announced alone.
    modes = [mode for mode in MODES if mode not in ("fail", "tool-call")]
    script = Script(answers=tuple(Line(mode=mode, times=1) for mode in modes), facts=FACTS)
    with serving(script) as server:
        for n, mode in enumerate(modes):
            text, finish, call = ask(server.url, api, stream=stream)
            record = server.calls[n]

            # The frame of a summary goes by the number of the call, and `same` by the summary before.
            expected = ScriptedSummariser()
            expected.learn(None, FACTS)
            for earlier in modes[: n + 1]:
                expected.tell(earlier)
                reply = expected(Shown(messages=SHOWN))
            # One API has one word for a filter and a refusal.
            told = "refusal" if api == "messages" and reply.finish == "content-filter" else reply.finish
            assert (mode, text, finish, call) == (mode, reply.text, told, None)
            assert (record.mode, record.reply, record.finish) == (mode, reply.text, reply.finish)
            assert record.messages == SHOWN
            assert (record.api, record.stream, record.model, record.status) == (api, stream, "m", 200)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", APIS)
def test_a_failing_model_is_an_http_error_of_the_clients_own_kind(api: str, stream: bool) -> None:
    script = Script(
        answers=(Line(mode="fail", times=1), Line(mode="fail", status=529, times=1), Line(mode="time-out"))
    )
    kinds = anthropic if api == "messages" else openai
    with serving(script) as server:
        with pytest.raises(kinds.RateLimitError, match="scripted"):
            ask(server.url, api, stream=stream)
        with pytest.raises(kinds.APIStatusError) as caught:
            ask(server.url, api, stream=stream)
        assert caught.value.status_code == 529
        with pytest.raises(kinds.APIStatusError) as caught:
            ask(server.url, api, stream=stream)
        assert caught.value.status_code == 504

        assert [(call.status, call.reply) for call in server.calls] == [(429, None), (529, None), (504, None)]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", APIS)
def test_a_model_that_hangs_is_waited_for_until_the_client_gives_up(api: str, stream: bool) -> None:
    with serving(Script.of("hang")) as server:
        # In the middle of a stream clients let out their transport's own error.
        with pytest.raises(Exception, match=r"(?i)timed out") as caught:
            ask(server.url, api, stream=stream, timeout=0.5)

        assert "Timeout" in type(caught.value).__name__
        assert [(call.mode, call.reply) for call in server.calls] == [("hang", None)]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", APIS)
def test_a_connection_that_is_closed_never_gives_a_whole_answer(api: str, stream: bool) -> None:
    with serving(Script.of("cancelled")) as server:
        with pytest.raises(Exception, match=r"(?i)connection|closed|peer|read|incomplete") as caught:
            ask(server.url, api, stream=stream)

        assert not isinstance(caught.value, AssertionError)
        assert [(call.mode, call.reply) for call in server.calls] == [("cancelled", None)]


@pytest.mark.parametrize("api", APIS)
def test_a_model_that_breaks_down_in_the_middle_of_a_stream_says_so_in_the_apis_own_way(api: str) -> None:
    kinds = anthropic if api == "messages" else openai
    with serving(Script.of("overloaded")) as server:
        with pytest.raises(kinds.InternalServerError, match="overloaded") as refused:
            ask(server.url, api, stream=False)
        assert refused.value.status_code == 503
        if api == "responses":
            # Its client lets an event of failure through as an event.
            with clients(server.url) as (one, _), one.responses.stream(model="m", input=TURN) as events:
                last = list(events)[-1]
            assert last.type == "response.failed"
            assert last.response.error is not None
            assert "overloaded" in last.response.error.message
        else:
            with pytest.raises(kinds.APIError, match="overloaded"):
                ask(server.url, api, stream=True)

        assert [(call.mode, call.status, call.reply) for call in server.calls] == [
            ("overloaded", 503, None),
            ("overloaded", 200, None),
        ]


def test_every_mode_of_every_api_streamed_and_not_stands_in_the_record_with_all_that_was_shown() -> None:
    asked = [(api, stream, mode) for api in APIS for stream in (False, True) for mode in EVERY_MODE]
    with serving(Script(answers=tuple(Line(mode=mode, times=1) for _, _, mode in asked), facts=FACTS)) as server:
        for api, stream, mode in asked:
            # What a client makes of each is told above; here only what was shown to the model.
            with contextlib.suppress(Exception):
                ask(server.url, api, stream=stream, tools=mode == "tool-call", timeout=0.5 if mode == "hang" else 20)

        assert [(call.call, call.api, call.stream, call.mode) for call in server.calls] == [
            (number, *each) for number, each in enumerate(asked)
        ]
        assert {call.messages for call in server.calls} == {SHOWN}
        silent = {"fail", *OF_A_SERVER}
        for call in server.calls:
            assert (call.reply is None) == (call.mode in silent), call.mode
            assert (call.tool is not None) == (call.mode == "tool-call")
            assert TURN in json.dumps(call.request, ensure_ascii=False)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", APIS)
def test_a_tool_call_names_a_tool_that_was_offered_or_that_the_script_names(api: str, stream: bool) -> None:
    own = ToolUse(name="write", arguments={"path": "/srv/ü", "n": 1})
    with serving(Script(answers=(Line(mode="tool-call", times=1), Line(call=own)))) as server:
        assert ask(server.url, api, stream=stream, tools=True) == ("", "tool-call", ("list_files", {}))
        assert ask(server.url, api, stream=stream, tools=True) == ("", "tool-call", (own.name, own.arguments))
        assert [call.tool for call in server.calls] == [ToolUse(name="list_files"), own]


def test_lines_are_chosen_by_what_was_shown_and_used_up_in_order() -> None:
    script = Script(
        answers=(
            Line(say="I will look.", when="no such words"),
            Line(say="One.", when="SUMMARISE THE", times=1),
            Line(say="Two.", times=2),
        )
    )
    with serving(script) as server:
        said = [ask(server.url, "chat", stream=False)[0] for _ in range(4)]

    assert said[:3] == ["One.", "Two.", "Two."]
    assert FACTS[0].text in said[3]  # used up: faithful


def test_without_planted_facts_it_reads_them_out_of_what_is_shown_and_not_out_of_instructions() -> None:
    with serving() as server, clients(server.url) as (client, _):
        given = [
            {"role": "system", "content": "The port of ghost-1 is 9999."},
            {"role": "user", "content": TURN},
        ]
        text = client.chat.completions.create(model="m", messages=given).choices[0].message.content or ""
        server.follow(Script.of("number"))
        changed = client.chat.completions.create(model="m", messages=given).choices[0].message.content or ""

    assert all(fact.text in text for fact in FACTS)
    assert "ghost-1" not in text
    assert "The port of relay-3 is 8082." in changed
    assert FACTS[0].text not in changed


def test_what_calls_and_results_of_tools_say_is_shown_too() -> None:
    with serving() as server, clients(server.url) as (one, other):
        call = {"id": "c1", "type": "function", "function": {"name": "cat", "arguments": '{"path": "/etc/app"}'}}
        one.chat.completions.create(
            model="m",
            messages=[
                {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c1", "content": "x=1"},
            ],
        )
        one.responses.create(
            model="m",
            input=[
                {"role": "user", "content": [{"type": "input_text", "text": "a"}]},
                {"type": "function_call", "call_id": "c1", "name": "cat", "arguments": '{"path": "/etc/app"}'},
                {"type": "function_call_output", "call_id": "c1", "output": "x=1"},
            ],
        )
        other.messages.create(
            model="m",
            max_tokens=9,
            system=[{"type": "text", "text": "s"}],
            messages=[
                {"role": "user", "content": "a"},
                {
                    "role": "assistant",
                    "content": [{"type": "tool_use", "id": "c1", "name": "cat", "input": {"path": "/etc/app"}}],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "x=1"}]}
                    ],
                },
            ],
        )

        path = '{"path": "/etc/app"}'
        assert [call.messages for call in server.calls] == [
            ("a\nb", path, "x=1"),
            ("a", path, "x=1"),
            ("s", "a", path, "x=1"),
        ]


def test_a_conversation_that_the_server_keeps_is_shown_again() -> None:
    script = Script(answers=(Line(say="Noted."),))
    with serving(script) as server, clients(server.url) as (client, _):
        first = client.responses.create(model="m", instructions="old", input="one")
        client.responses.create(model="m", instructions="new", input="two", previous_response_id=first.id)
        with pytest.raises(openai.BadRequestError, match="not found"):
            client.responses.create(model="m", input="x", previous_response_id="resp_nowhere")

        assert server.calls[1].messages == ("new", "one", "Noted.", "two")


def test_usage_is_told_at_the_end_of_a_stream_where_it_is_asked_for() -> None:
    with serving() as server, clients(server.url) as (client, _):
        chunks = list(
            client.chat.completions.create(
                model="m",
                messages=[{"role": "user", "content": TURN}],
                stream=True,
                stream_options={"include_usage": True},
            )
        )

    assert [chunk.usage is not None for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert chunks[-1].usage.prompt_tokens == -(-len(TURN) // 4)


def test_models_and_tokens_can_be_asked_for_by_the_clients() -> None:
    with serving() as server, clients(server.url) as (one, other):
        assert [model.id for model in one.models.list()] == ["anchorhold"]
        assert [model.id for model in other.models.list()] == ["anchorhold"]
        counted = other.messages.count_tokens(model="m", messages=[{"role": "user", "content": "x" * 9}])
        assert counted.input_tokens == 3


def post(url: str, body: bytes, *, method: str = "POST") -> tuple[int, bytes]:
    request = urllib.request.Request(url, data=body, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


@pytest.mark.parametrize(
    "path", ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1/messages/count_tokens"]
)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b'{"model": 1}',
        b'{"model": "m", "messages": "x", "input": 5, "max_tokens": 1}',
        b'{"model": "m", "messages": [1], "input": [1], "max_tokens": 1}',
        b'{"model": "m", "messages": [{"role": 1}], "input": [{"type": "message"}], "max_tokens": 1}',
        b'{"model": "m", "stream": "yes", "messages": [], "input": [], "max_tokens": 1}',
        b'{"model": "m", "messages": [{"role": "user", "content": [5]}], "input": [{"type": 3}], "max_tokens": 1}',
        b"[" * 100_000,
    ],
)
def test_a_request_that_is_none_is_refused_with_the_apis_own_error(refusing: Served, path: str, body: bytes) -> None:
    status, answer = post(refusing.url + path, body)

    assert status == 400
    error = json.loads(answer)["error"]
    assert error["message"]
    assert error["type"] == "invalid_request_error"
    assert refusing.calls == ()


@pytest.fixture(scope="module")
def refusing() -> Iterator[Served]:
    with serving() as server:
        yield server


def test_the_script_can_be_changed_and_the_record_read_over_http() -> None:
    with serving() as server:
        assert post(f"{server.url}/anchorhold/script", b'{"answers": [{"say": "Hi."}]}', method="PUT")[0] == 204
        assert ask(server.url, "messages", stream=False)[0] == "Hi."
        status, answer = post(f"{server.url}/anchorhold/script", b'{"answers": [{"mode": "honest"}]}', method="PUT")
        assert status == 400
        assert b"no mode 'honest'" in answer
        with urllib.request.urlopen(f"{server.url}/anchorhold/calls", timeout=20) as lines:
            (record,) = [json.loads(line) for line in lines]
        assert (record["mode"], record["reply"], record["messages"]) == ("say", "Hi.", list(SHOWN))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "no script"),
        ('{"answers": [{}]}', "one of `mode`, `say` and `call`"),
        ('{"answers": [{"mode": "drop", "say": "x"}]}', "one of `mode`, `say` and `call`"),
        ('{"answers": [{"mode": "drop", "time": 1}]}', "time"),
        ('{"answers": [{"mode": "drop", "times": 0}]}', "times"),
        ('{"answers": [{"mode": "fail", "status": 200}]}', "status"),
        ('{"facts": [{"text": "x"}]}', "literal"),
        ('{"answer": []}', "answer"),
    ],
)
def test_a_script_that_is_none_is_refused_and_says_where(text: str, says: str) -> None:
    with pytest.raises(ScriptError, match=says):
        Script.decode(text)


def test_each_mode_can_be_named() -> None:
    assert {line.mode for name in EVERY_MODE for line in Script.load(name).answers} == {*MODES, *OF_A_SERVER}


# -- whole compactors


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_the_references_summarisers_tell_every_ending_apart_behind_it(provider: str) -> None:
    request = Request(messages=SHOWN)
    with serving() as server, clients(server.url, timeout=1.0) as (one, other):
        made = (
            OpenAISummariser(one, model="m", timeout=1.0)
            if provider == "openai"
            else AnthropicSummariser(other, model="m", timeout=1.0)
        )
        finishes = {}
        for mode in ("faithful", "truncated", "refusal", "tool-call", "empty"):
            server.follow(Script.of(mode))
            finishes[mode] = made(request).finish
        assert len({finishes[mode] for mode in ("faithful", "truncated", "refusal", "tool-call")}) == 4
        assert finishes["empty"] == finishes["faithful"]
        for mode, error in (
            ("fail", ReferenceSummariserError),
            ("cancelled", ReferenceSummariserError),
            ("hang", SummariserTimeoutError),
        ):
            server.follow(Script.of(mode))
            with pytest.raises(error):
                made(request)


WHOLE_AGENT = Path(__file__).with_name("whole_agent.py")
ASKING = "compact this conversation"
TALK = (Line(call=ToolUse(name="read_file", arguments={"path": "/etc/app"}), times=2), Line(say="Port 8081."))


@pytest.mark.slow
@pytest.mark.parametrize("facts", [(), FACTS], ids=["read", "planted"])
@pytest.mark.parametrize("api", APIS)
def test_a_whole_agent_uses_its_tools_and_compacts_behind_it(api: str, facts: tuple[Fact, ...]) -> None:
    script = Script(answers=(Line(mode="faithful", when=ASKING), *TALK), facts=facts)
    with serving(script) as server:
        told = agent(api, server.url)

        assert told["raised"] is None
        assert [call.mode for call in server.calls[:3]] == ["call", "call", "say"]
        summaries = [call for call in server.calls if call.mode == "faithful"]
        assert summaries
        # The tool ran, and what it said was shown to the model that summarises and stands in the summary.
        assert "The port of relay-3 is 8081, says /etc/app." in summaries[0].messages[-1]
        assert "8081" in (summaries[0].reply or "")
        assert (summaries[-1].reply or "nothing") in "\n".join(told["window"])
        assert server.calls[-1].mode == "say"


@pytest.mark.slow
@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("mode", ["fail", "cancelled"])
def test_a_whole_agent_meets_the_faults_of_the_model_when_it_compacts(api: str, mode: str) -> None:
    with serving(Script(answers=(Line(mode=mode, when=ASKING), *TALK))) as server:
        told = agent(api, server.url)

        assert mode in [call.mode for call in server.calls]
        # It lets the error out, or goes on and says so in the window: neither is decided here.
        assert told["raised"] is not None or told["window"]


def agent(api: str, url: str) -> dict:
    program = [find_uv_bin(), "run", "--quiet", "--no-project", "--script", str(WHOLE_AGENT), api, url]
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    ran = subprocess.run(program, capture_output=True, text=True, timeout=600, check=True, env=environment)
    return json.loads(ran.stdout)


# -- the command


@contextlib.contextmanager
def command(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    program = [sys.executable, "-c", "from anchorhold.cli import main; main()", "model-server", *arguments]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_prints_its_url_keeps_the_record_and_ends_cleanly(number: int, tmp_path: Path) -> None:
    script, record = tmp_path / "script.json", tmp_path / "record.jsonl"
    script.write_text('{"answers": [{"say": "Hi.", "times": 1}, {"mode": "hang"}]}')
    with command(str(script), "--record", str(record)) as (url, process):
        assert url.startswith("http://127.0.0.1:")
        assert ask(url, "chat", stream=True)[0] == "Hi."
        # Somebody who is left hanging does not keep it from ending.
        with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))) as hanging:
            body = b'{"model": "m", "messages": [{"role": "user", "content": "x"}]}'
            fields = f"Host: x\r\nAuthorization: Bearer secret\r\nContent-Length: {len(body)}\r\n\r\n"
            head = f"POST /v1/chat/completions HTTP/1.1\r\n{fields}"
            hanging.sendall(head.encode() + body)
            while len(record.read_bytes().splitlines()) < 2:
                pass
            process.send_signal(number)
            out, err = process.communicate(timeout=30)

    assert (process.returncode, out, err) == (0, "", "")
    lines = [json.loads(line) for line in record.read_bytes().splitlines()]
    assert [(line["call"], line["mode"], line["reply"]) for line in lines] == [(0, "say", "Hi."), (1, "hang", None)]
    assert "secret" not in record.read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["honest"], "'honest' is neither a mode nor a file"),
        (["faithful", "--record", "/nowhere/at/all"], "cannot write /nowhere/at/all"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(arguments: list[str], says: str) -> None:
    with command(*arguments) as (_, process):
        _, err = process.communicate(timeout=30)

    assert process.returncode == 2
    assert says in err
    assert len(err.splitlines()) == 1


def test_a_port_that_is_taken_is_said_in_one_line() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        command("--port", str(taken.getsockname()[1])) as (_, process),
    ):
        _, err = process.communicate(timeout=30)

    assert process.returncode == 2
    assert "cannot serve on port" in err
    assert len(err.splitlines()) == 1


def test_without_aiohttp_it_says_what_to_install(tmp_path: Path) -> None:
    program = (
        "import importlib.util as u; f = u.find_spec\n"
        "u.find_spec = lambda n, *a: None if n == 'aiohttp' else f(n, *a)\n"
        "from anchorhold.cli import main; main(['model-server'])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env={**os.environ}, check=False
    )

    assert ran.returncode == 2
    assert ran.stderr == "anchorhold: model-server needs aiohttp: pip install 'anchorhold[model-server]'\n"


def test_the_hook_itself_fails_where_the_server_answers_429() -> None:
    with pytest.raises(SummariserError):
        hook("fail")
