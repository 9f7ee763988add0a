# /// script
# requires-python = ">=3.11"
# dependencies = ["langchain==1.5.2", "langchain-openai", "langchain-anthropic"]
# ///
"""A whole agent with a tool and a compaction of its own, of which only the base URL is set.

`whole_agent.py STYLE URL`

Prints one JSON object: what the agent's window holds at the end, and whether it raised.
"""

import json
import sys

from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.tools import tool


@tool
def read_file(path: str) -> str:
    """Read a file."""
    return f"The port of relay-3 is 8081, says {path}."


def model(style: str, url: str):
    if style == "messages":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(model_name="m", base_url=url, api_key="none", max_retries=0)
    from langchain_openai import ChatOpenAI

    responses = style == "responses"
    return ChatOpenAI(model="m", base_url=f"{url}/v1", api_key="none", max_retries=0, use_responses_api=responses)


def main(style: str, url: str) -> None:
    made = model(style, url)
    prompt = "COMPACT THIS CONVERSATION:\n{messages}"
    middleware = SummarizationMiddleware(
        model=made, trigger=("messages", 6), keep=("messages", 2), summary_prompt=prompt
    )
    agent = create_agent(model=made, tools=[read_file], middleware=[middleware])
    messages = []
    raised = None
    try:
        for turn in range(3):
            messages = [*messages, {"role": "user", "content": f"Question {turn}: which port has relay-3?"}]
            messages = agent.invoke({"messages": messages})["messages"]
    except Exception as error:  # noqa: BLE001 - that it raises is what is told
        raised = type(error).__name__
    window = [m.text if hasattr(m, "text") else m["content"] for m in messages]
    print(json.dumps({"window": [str(text) for text in window], "raised": raised}))  # noqa: T201


main(*sys.argv[1:])
