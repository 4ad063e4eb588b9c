"""Drives requests through an engine, for tests."""

from chat.inference import GREEDY, Chunk, Finished, Request


def chat(*texts, system=None):
    """Messages in turn, a person first; a text or a whole message each."""
    talk = [{"role": "system", "content": system}] if system else []
    roles = ("user", "assistant")
    turns = enumerate(texts)
    return talk + [
        text if isinstance(text, dict) else {"role": roles[place % 2], "content": text} for place, text in turns
    ]


def request(engine, *texts, sampling=GREEDY, system=None, **options):
    """A request for the reply to these turns."""
    prompt = engine.prompts.encode(chat(*texts, system=system))
    options = {"cache_key": "talk", "owner": "alice", **options}
    return Request(
        prompt.tokens, sampling, num_shared=prompt.num_shared, opens_reasoning=prompt.opens_reasoning, **options
    )


async def answer(engine, wanted):
    """The whole reply: its text, and the last event."""
    text = ""
    async for event in engine.generate(wanted):
        if isinstance(event, Chunk):
            text += event.text
        if isinstance(event, Finished):
            return text, event
    raise AssertionError("the reply never ended")
