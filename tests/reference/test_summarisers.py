"""Summarisers over model clients, against a server on loopback: what came back is told apart (OUT-1, OUT-2)."""

import asyncio

import anthropic
import openai
import pytest
from model_server import serve
from transcripts import fill

from anchorhold_reference import Reply, Request, Settings
from anchorhold_reference.reply import fault
from anchorhold_reference.summarisers import SummariserError, SummariserTimeoutError
from anchorhold_reference.summarisers.anthropic import AnthropicSummariser, AsyncAnthropicSummariser
from anchorhold_reference.summarisers.openai import AsyncOpenAISummariser, OpenAISummariser
from anchorhold_reference.summarisers.waiting import Waiter
from anchorhold_spec.vocabulary import OutcomeKind

KINDS = ("openai", "openai-async", "anthropic", "anthropic-async")
REQUEST = Request(messages=("Summarise this.", "user: The port of db is 80.", "assistant: Noted."))


@pytest.fixture
def server():
    with serve() as script:
        yield script


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def waiter():
    one = Waiter()
    yield one
    one.close()


@pytest.fixture
def summarise(kind, server, waiter):
    """Each summariser as a plain call; clients are closed on the loop that they were used on."""
    close = []

    def make(*, timeout=20.0, **options):
        more = {"model": "m", "timeout": timeout, "options": options}
        if kind == "openai":
            client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0)
            close.append(client.close)
            return OpenAISummariser(client, **more)
        if kind == "anthropic":
            client = anthropic.Anthropic(base_url=server.url, api_key="k", max_retries=0)
            close.append(client.close)
            return AnthropicSummariser(client, **more)
        if kind == "openai-async":
            client = openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0)
            one = AsyncOpenAISummariser(client, **more)
        else:
            client = anthropic.AsyncAnthropic(base_url=server.url, api_key="k", max_retries=0)
            one = AsyncAnthropicSummariser(client, **more)
        close.append(lambda: waiter.reply(client.close()))
        return lambda request: waiter.reply(one(request))

    yield make
    for each in close:
        each()


def text(server, kind, words, *, cut=False):
    if kind.startswith("openai"):
        server.completion(content=words, finish="length" if cut else "stop")
    else:
        server.message({"type": "text", "text": words}, stop="max_tokens" if cut else "end_turn")


def wrong(reply):
    return fault(reply, shown=(), previous=())


def test_out_2_a_text_is_a_reply_without_fault(summarise, server, kind):
    text(server, kind, "db listens on port 80.")
    reply = summarise()(REQUEST)

    assert reply.text == "db listens on port 80."
    assert wrong(reply) is None


def test_ptr_3_the_model_is_shown_the_instructions_and_every_carrier_whole_and_in_order(summarise, server, kind):
    text(server, kind, "Done.")
    summarise(extra_body={"seed": 7})(REQUEST)
    ((path, asked),) = server.asked

    if kind.startswith("openai"):
        assert path == "/v1/chat/completions"
        assert [m["role"] for m in asked["messages"]] == ["system", "user"]
        assert asked["messages"][0]["content"] == REQUEST.messages[0]
        assert asked["messages"][1]["content"] == "\n\n".join(REQUEST.messages[1:])
    else:
        assert path == "/v1/messages"
        assert asked["system"] == REQUEST.messages[0]
        ((message),) = asked["messages"]
        assert [block["text"] for block in message["content"]] == list(REQUEST.messages[1:])
        assert asked["max_tokens"] > 0
    assert (asked["model"], asked["seed"]) == ("m", 7)
    assert not asked.get("stream")


def test_out_1_a_reply_cut_at_its_limit_is_told_as_cut(summarise, server, kind):
    text(server, kind, "db listens on po", cut=True)
    assert wrong(summarise()(REQUEST)).startswith("truncated")


def test_out_1_a_refusal_is_told_as_a_refusal(summarise, server, kind):
    if kind.startswith("openai"):
        server.completion(refusal="I will not do that.", finish="stop")
    else:
        server.message({"type": "text", "text": "No."}, stop="refusal")
    assert wrong(summarise()(REQUEST)).startswith("refusal")


@pytest.mark.parametrize("claimed", ["honest", "as if it were a text"])
def test_out_1_a_tool_call_is_told_as_such_whatever_the_reason_claims(summarise, server, kind, claimed):
    honest = claimed == "honest"
    if kind.startswith("openai"):
        call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        server.completion(content="db.", tool_calls=[call], finish="tool_calls" if honest else "stop")
    else:
        call = {"type": "tool_use", "id": "1", "name": "f", "input": {}}
        server.message({"type": "text", "text": "db."}, call, stop="tool_use" if honest else "end_turn")
    assert "tool" in wrong(summarise()(REQUEST))


def test_out_1_an_empty_reply_is_told_as_empty(summarise, server, kind):
    text(server, kind, "")
    assert wrong(summarise()(REQUEST)).startswith("empty")


@pytest.mark.parametrize("missing", ["content", "reason", "choices"])
def test_out_1_a_reply_that_lacks_what_the_protocol_promises_is_no_summary(summarise, server, kind, missing):
    if kind.startswith("openai"):
        server.completion(content=None if missing == "content" else "Done.", finish=None)
        if missing == "choices":
            server.body["choices"] = []
    elif missing == "reason":
        server.message({"type": "text", "text": "Done."}, stop=None)
    else:
        server.message()
    assert wrong(summarise()(REQUEST)) is not None


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503, 529])
def test_out_2_an_error_of_the_server_is_an_error_with_its_status(summarise, server, kind, status):
    server.fails(status, {"type": "error", "error": {"type": "x", "message": "the reason"}})
    with pytest.raises(SummariserError, match="the reason") as caught:
        summarise()(REQUEST)
    assert caught.value.status == status
    assert not isinstance(caught.value, SummariserTimeoutError)


@pytest.mark.parametrize("kind", ["openai", "openai-async"], indirect=True)
def test_out_2_a_content_filter_of_an_openai_style_server_is_a_refusal(summarise, server, kind):
    server.fails(400, {"error": {"code": "content_filter", "message": "filtered"}})
    assert wrong(summarise()(REQUEST)).startswith("refusal")


def test_out_2_an_answer_that_never_comes_is_a_time_out(summarise, server, kind):
    server.delay = 30
    with pytest.raises(SummariserTimeoutError, match=r"within 0\.3 s"):
        summarise(timeout=0.3)(REQUEST)


def test_out_2_a_connection_that_is_dropped_is_an_error_and_no_time_out(summarise, server):
    server.drop = True
    with pytest.raises(SummariserError) as caught:
        summarise()(REQUEST)
    assert not isinstance(caught.value, SummariserTimeoutError)
    assert caught.value.status is None


def test_out_2_an_answer_that_is_no_json_is_an_error(summarise, server):
    server.body = b"<html>gateway</html>"
    with pytest.raises(SummariserError, match="not what the protocol says"):
        summarise()(REQUEST)


@pytest.mark.parametrize("behind", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("case", "outcome", "said"),
    [
        ("text", OutcomeKind.COMMITTED, None),
        ("cut", OutcomeKind.REFUSED, "truncated"),
        ("error", OutcomeKind.FAILED, "HTTP status 500"),
        ("time-out", OutcomeKind.FAILED, "no answer within"),
    ],
)
def test_out_2_a_compaction_tells_how_the_model_failed_and_keeps_the_sources(
    summarise, server, kind, make, case, outcome, said
):
    if case == "error":
        server.fails(500, {"error": {"message": "broken"}})
    else:
        text(server, kind, "The first part went well.", cut=case == "cut")
    if case == "time-out":
        server.delay = 30
    transcript = make(
        summarise=summarise(timeout=0.5 if case == "time-out" else 20), settings=Settings(horizon=0, keep=2)
    )
    fill(transcript, 1, 6)
    before = transcript.live()
    found = transcript.compact()

    assert found.kind is outcome
    if said is not None:
        assert said in found.reason
        assert transcript.live() == before


def test_a_coroutine_is_waited_for_on_one_loop_also_where_another_runs(waiter):
    loops = []

    async def write():
        loops.append(asyncio.get_running_loop())
        return Reply(text="Done.")

    async def caller():
        return waiter.reply(write())

    assert waiter.reply(write()) == waiter.reply(Reply(text="Done.")) == asyncio.run(caller())
    assert len(set(loops)) == 1


def test_a_waiter_that_was_closed_begins_anew(waiter):
    async def write():
        return Reply(text="Done.")

    waiter.reply(write())
    waiter.close()
    waiter.close()
    assert waiter.reply(write()).text == "Done."


def test_what_a_coroutine_raises_is_raised(waiter):
    async def fail():
        raise SummariserError("it", "broken")

    with pytest.raises(SummariserError, match="broken"):
        waiter.reply(fail())
