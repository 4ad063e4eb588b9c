"""One choice of a chat completion: the parts of its stream, and the whole message, which is their sum."""

from collections.abc import Iterable, Iterator
from typing import Any

from chat.api.answers import finish_reason, logprobs_of
from chat.api.calls import Reader
from chat.inference import Chunk, Event, Finished

Part = dict[str, Any]


class ChoiceWriter:
    """Takes the events of one reply. `reader` finds calls of tools in its text."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._begun = False
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._logprobs: list[dict[str, Any]] | None = None
        self._finish = "stop"

    def parts(self, event: Event) -> Iterator[Part]:
        """What the stream of this choice says about the event: `delta`, `logprobs` and `finish_reason`."""
        if not self._begun:
            self._begun = True
            yield _part({"role": "assistant", "content": ""})
        if isinstance(event, Chunk):
            yield from self._grow(event)
        elif isinstance(event, Finished):
            yield from (_part(delta) for delta in self._take(self._reader.finish()))
            self._finish = "tool_calls" if self._calls and finish_reason(event) == "stop" else finish_reason(event)
            yield _part({}, finish=self._finish)

    def whole(self) -> Part:
        """The choice when it has ended."""
        content = "".join(self._content)
        message: Part = {"role": "assistant", "content": content if content or not self._calls else None}
        if self._reasoning:
            message["reasoning_content"] = "".join(self._reasoning)
        if self._calls:
            message["tool_calls"] = self._calls
        logprobs = None if self._logprobs is None else {"content": self._logprobs}
        return {"message": message, "logprobs": logprobs, "finish_reason": self._finish}

    def _grow(self, chunk: Chunk) -> Iterator[Part]:
        deltas = []
        if chunk.reasoning:
            self._reasoning.append(chunk.reasoning)
            deltas.append({"reasoning_content": chunk.reasoning})
        deltas += self._take(self._reader.push(chunk.text))
        entries = logprobs_of(chunk.logprobs)
        if entries:
            self._logprobs = [*(self._logprobs or []), *entries]
            deltas = deltas or [{}]
        for place, delta in enumerate(deltas):
            yield _part(delta, logprobs={"content": entries} if entries and not place else None)

    def _take(self, deltas: Iterable[Part]) -> list[Part]:
        taken = list(deltas)
        for delta in taken:
            if text := delta.get("content"):
                self._content.append(text)
            for call in delta.get("tool_calls", ()):
                self._add_call(call)
        return taken

    def _add_call(self, delta: Part) -> None:
        if "id" in delta:
            self._calls.append({"id": delta["id"], "type": "function", "function": dict(delta["function"])})
        else:
            self._calls[delta["index"]]["function"]["arguments"] += delta["function"]["arguments"]


def _part(delta: Part, *, logprobs: Part | None = None, finish: str | None = None) -> Part:
    return {"delta": delta, "logprobs": logprobs, "finish_reason": finish}
