import pytest
from transcripts import fill, port, turn

from anchorhold_reference import Reply, Settings
from anchorhold_reference.reply import fault, shorten
from anchorhold_reference.values import four_characters
from anchorhold_spec.vocabulary import OutcomeKind

NOT_SUMMARIES = {
    "empty": Reply(text=""),
    "blank": Reply(text=" \n\t "),
    "dashes": Reply(text="---\n***"),
    "cut": Reply(text="The work went w", finish="length"),
    "cut elsewhere": Reply(text="The work went w", finish="max_tokens"),
    "filtered": Reply(text="The work", finish="content_filter"),
    "tool call finish": Reply(text="The work went well.", finish="tool_calls"),
    "refusal finish": Reply(text="No.", finish="refusal"),
    "refusal": Reply(text="I'm sorry, but I can't help with summarising this conversation."),
    "refusal 2": Reply(text="I cannot assist with that request."),
    "refusal 3": Reply(text="As an AI language model, I am unable to provide a summary of this."),
    "openai error": Reply(text="Error code: 429 - {'error': {'message': 'Rate limit reached for requests'}}"),
    "json error": Reply(text='{"error": {"type": "overloaded_error", "message": "Overloaded"}}'),
    "anthropic error": Reply(text='{"type": "error", "error": {"type": "rate_limit_error"}}'),
    "html": Reply(text="<html><body>502 Bad Gateway</body></html>"),
    "http": Reply(text="503 Service Unavailable"),
    "exception": Reply(text="openai.RateLimitError: too many requests"),
    "traceback": Reply(text='Traceback (most recent call last):\n  File "x"'),
    "timeout": Reply(text="Request timed out."),
    "reasoning only": Reply(text="<think>Let me see what they did.</think>\n"),
    "unclosed reasoning": Reply(text="<thinking>Let me see what they did."),
    "problem object": Reply(text='{"message": "Internal server error", "code": 500}'),
    "the compactor's own line": Reply(
        text="[stands for 9 turns, whose originals can be asked for; nothing left out]"
    ),
    "no reply": None,
    "a bare text": "".join(["Part one ", "went well."]).encode(),
    "no text": Reply(text=None),  # type: ignore[arg-type]
    "bytes": Reply(text=b"Part one went well."),  # type: ignore[arg-type]
    "no finish": Reply(text="Part one went well.", finish=None),  # type: ignore[arg-type]
    "surrogate": Reply(text="Part \ud800 went well."),
    "null": Reply(text="Part \x00 went well."),
    "call": Reply(text='<tool_call>{"name": "x"}</tool_call>'),
}


@pytest.mark.parametrize("name", NOT_SUMMARIES)
def test_out_1_what_is_no_summary_is_not_committed_and_the_sources_stay(make, script, name):
    transcript = make()
    fill(transcript, 1, 6)
    before = transcript.live()
    script.write = lambda request: NOT_SUMMARIES[name]
    outcome = transcript.compact()

    assert outcome.kind is OutcomeKind.REFUSED
    assert "OUT-1" in outcome.reason
    assert transcript.live() == before
    assert transcript.pointers() == []
    script.write = script.nothing
    assert transcript.compact().kind is OutcomeKind.COMMITTED


@pytest.mark.parametrize("error", [RuntimeError("rate limit"), TimeoutError("60 s"), ConnectionError("reset")])
def test_out_1_a_summariser_that_fails_changes_nothing_however_often(make, script, error):
    def write(request):
        raise error

    transcript = make()
    fill(transcript, 1, 6)
    before = transcript.live()
    script.write = write
    outcomes = [transcript.compact() for _ in range(4)]

    assert {o.kind for o in outcomes} == {OutcomeKind.FAILED}
    assert str(error) in outcomes[0].reason
    assert transcript.live() == before


@pytest.mark.parametrize("which", ["last turn", "last turn as shown", "all turns", "instructions", "all"])
def test_out_1_an_echo_is_not_committed(make, script, which):
    def write(request):
        return {
            "last turn": port(4),
            "last turn as shown": request.messages[-1],
            "all turns": "\n".join(request.messages[1:]),
            "instructions": request.messages[0],
            "all": "\n".join(request.messages),
        }[which]

    transcript = make()
    fill(transcript, 1, 6)
    script.write = write

    assert "echo" in (transcript.compact().reason or "")


def test_out_1_the_previous_summary_unchanged_is_not_committed(make, script):
    transcript = make()
    fill(transcript, 1, 6)
    script.write = lambda request: "The same as ever."
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    fill(transcript, 7, 10)
    outcome = transcript.compact()

    assert outcome.kind is OutcomeKind.REFUSED
    assert "unchanged" in outcome.reason
    assert [item.generation for item in transcript.live()] == [1, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "text",
    [
        "Errors were found: error code 429 came up once.",
        "The user asked for help; I can't say more than that the port is 80.",
        "Sorry state of the build: two tests fail.",
        "An exception: TimeoutError was raised in the run.",
        "<think>hm</think>The port is 80.",
    ],
)
def test_out_1_a_summary_that_only_speaks_of_errors_is_one(text):
    assert fault(Reply(text=text), shown=("a", "b"), previous=()) is None


def test_out_2_the_outcomes_are_told_apart(make, script):
    transcript = make(settings=Settings(horizon=0, budget=200, watermark=0.5, keep=1))
    fill(transcript, 1, 3)
    assert transcript.compact().kind is OutcomeKind.NOTHING
    fill(transcript, 4, 30)
    script.write = lambda request: 1 / 0
    assert transcript.compact().kind is OutcomeKind.FAILED
    script.write = lambda request: ""
    assert transcript.compact().kind is OutcomeKind.REFUSED
    script.write = script.nothing
    outcome = transcript.compact()
    assert outcome.kind is OutcomeKind.COMMITTED
    assert outcome.summary == transcript.live()[0].id


def test_pro_4_summaries_stay_bounded_though_the_summariser_repeats_everything(make, script):
    transcript = make(settings=Settings(horizon=0, budget=400, watermark=0.5, keep=1))
    script.write = lambda request: "\n".join(
        [f"Part {len(script.shown)}."]
        + [line.split(": ", 1)[-1] for m in request.messages[1:] for line in m.split("\n") if "The port" in line]
    )
    sizes, entries = [], []
    for generation in range(8):
        fill(transcript, generation * 30 + 1, generation * 30 + 30)
        assert transcript.compact().kind is OutcomeKind.COMMITTED
        sizes.append(four_characters(transcript.live()[0].text))
        entries.append(len(transcript.manifest(transcript.live()[0].id)))

    assert max(sizes) <= 200
    assert max(entries) <= 30
    assert transcript.reconstitute("db-200", "port", evidence=True).value == "7200"


def test_pro_4_a_summary_is_shortened_between_sentences_only():
    text = "The port is not\nopen. It is 80! Is it? Yes."
    for limit in range(1, 20):
        short = shorten(text, limit=limit, count=four_characters)
        if short is not None:
            assert four_characters(short[0]) <= limit
            assert short[0] in ("The port is not", "The port is not\nopen.", "The port is not\nopen. It is 80!",
                                "The port is not\nopen. It is 80! Is it?", text)  # fmt: skip
    assert shorten("one long sentence without an end", limit=2, count=four_characters) is None


def test_out_1_a_reply_that_cannot_be_made_to_fit_is_refused(make, script):
    transcript = make(settings=Settings(horizon=0, budget=200, watermark=0.5, keep=1))
    fill(transcript, 1, 20)
    before = transcript.live()
    script.write = lambda request: "word " * 500

    assert transcript.compact().kind is OutcomeKind.REFUSED
    assert transcript.live() == before


def test_str_3_a_turn_may_be_any_text(make, script):
    transcript = make()
    for n, text in enumerate(["\ud800", "a\x00b", "", "{", "\u2028", "x\r\ny"]):
        transcript.append(turn(n, text))
    assert [item.text for item in transcript.live()] == ["\ud800", "a\x00b", "", "{", "\u2028", "x\r\ny"]


def test_con_1_a_coroutine_function_may_write_the_summary_also_under_a_loop_that_runs(make):
    import asyncio

    loops = []

    async def summarise(request):
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return Reply(text=f"Part {len(loops)} of the work went well.")

    transcript = make(summarise=summarise)
    fill(transcript, 1, 6)
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    fill(transcript, 7, 10)

    async def agent():
        return transcript.compact()

    assert asyncio.run(agent()).kind is OutcomeKind.COMMITTED
    assert len(loops) == 2
    assert len(set(loops)) == 1


def test_out_1_what_a_coroutine_raises_is_a_failed_call(make):
    async def summarise(request):
        raise TimeoutError("the model did not answer")

    transcript = make(summarise=summarise)
    fill(transcript, 1, 6)
    before = transcript.live()
    outcome = transcript.compact()

    assert outcome.kind is OutcomeKind.FAILED
    assert "TimeoutError" in outcome.reason
    assert transcript.live() == before


def test_evi_6_a_copy_of_the_older_summary_s_last_line_does_not_stand_in_the_next(make, script):
    transcript = make()
    fill(transcript, 1, 6)
    transcript.compact()
    (line,) = [one for one in transcript.live()[0].text.splitlines() if one.startswith("[stands for")]
    fill(transcript, 7, 12)
    script.say(line, "More is done.")
    assert transcript.compact().kind is OutcomeKind.COMMITTED

    text = transcript.live()[0].text
    assert line not in text
    assert text.count("[stands for") == 1


def test_out_2_what_fails_after_the_commit_does_not_hide_it(make):
    calls = []

    def count(text):
        calls.append(text)
        if any("stands for" in one for one in calls):
            raise RuntimeError("the tokenizer is gone")
        return len(text)

    transcript = make(count=count)
    fill(transcript, 1, 6)
    outcome = transcript.compact()

    assert outcome.kind is OutcomeKind.COMMITTED
    assert "the tokenizer is gone" in (outcome.reason or "")
