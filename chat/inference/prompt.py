"""From messages to token ids: the model's own template around texts that can never become part of it."""

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from chat.inference.batch import ModelInfo, Runner
from chat.inference.reasoning import ReasoningSplitter
from chat.inference.request import Request
from chat.inference.template import ChatTemplate, Segment, TemplateError
from chat.inference.text import EndMarkers, TextAssembler

logger = logging.getLogger(__name__)

# How many texts are remembered with their tokens: some hundred conversations' messages. Longer ones are not, since
# programs may send megabytes.
_REMEMBERED_TEXTS = 8192
_REMEMBERED_CHARS = 8192


@dataclass(frozen=True)
class EncodedPrompt:
    """Token ids of a prompt. The first `num_shared` are the same for everybody who uses this site."""

    tokens: list[int]
    num_shared: int
    opens_reasoning: bool


class PromptEncoder:
    """Knows a model's template and vocabulary. Every method may be called from any thread.

    `shared_system` is the system message that everybody's conversations begin with; its tokens may be reused across
    people, since they tell nothing.
    """

    def __init__(self, runner: Runner) -> None:
        self.shared_system = ""
        self._runner = runner
        self._template = _template(runner.info)
        self._markers = runner.markers()
        self._marker_texts = re.compile("|".join(map(re.escape, _longest_first(self._markers.values()))) or "(?!)")
        # One cache an encoder; the texts go when the model goes.
        self._remembered_text_tokens = lru_cache(_REMEMBERED_TEXTS)(self._tokenize_text)
        self._part_tokens = lru_cache(_REMEMBERED_TEXTS)(self._tokenize_part)
        self.supports_thinking = self._template.supports_thinking
        self.supports_tools = self._template.supports_tools
        reasoning = self._template.reasoning or ()
        # Their text is shown to the splitter; a marker may be a control token with words behind it.
        self.reasoning_tokens = frozenset(
            token for token, text in self._markers.items() if any(marker.startswith(text) for marker in reasoning)
        )
        self.turn_start_tokens, self._turn_starts = self._find_turn_start()

    def encode(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        thinking: bool | None = None,
        now: datetime | None = None,
        tools: Sequence[Mapping[str, Any]] | None = None,
        extra: Mapping[str, Any] | None = None,
        beginning: str | None = None,
    ) -> EncodedPrompt:
        """Token ids of the conversation, ending where the model's reply begins.

        A message has `role`, `content` and, if it was written by this very model, `token_ids`, which stand for the
        content where the template leaves that as it is. `thinking` is the template's own switch, where it has one;
        `tools` and `extra` are what ChatTemplate.render takes. `beginning` is how the answer begins, in our own words,
        without any reasoning before it.
        """
        segments = self._template.render(messages, thinking=thinking, now=now, tools=tools, extra=extra)
        if beginning is not None:
            segments = self._template.begin_answer(segments, beginning)
        return self._encoded(segments, messages)

    def encode_beginning(self, messages: Sequence[Mapping[str, Any]], *, thinking: bool | None = None) -> EncodedPrompt:
        """Token ids of everything that will stand before the text of the next person's message."""
        talk = [*messages, {"role": "user", "content": "."}]
        segments = self._template.render(talk, thinking=thinking)
        places = [place for place, segment in enumerate(segments) if segment.message == len(messages)]
        return self._encoded(segments[: places[0]] if places else segments, talk)

    def encode_text(self, text: str) -> EncodedPrompt:
        """Token ids of a text that is to be continued as it stands, without a template."""
        bos = self._part_tokens(self._runner.info.bos) if self._runner.info.adds_bos else ()
        return EncodedPrompt([*bos, *self._text_tokens(text)], 0, opens_reasoning=False)

    def count(self, messages: Sequence[Mapping[str, Any]], *, thinking: bool | None = None) -> int:
        """Tokens of the whole prompt, the beginning of the reply included."""
        return len(self.encode(messages, thinking=thinking).tokens)

    def count_text(self, text: str) -> int:
        """Tokens of a text alone, as they would stand in a message."""
        return len(self._text_tokens(text))

    def assembler(self, request: Request) -> TextAssembler:
        """What turns this request's tokens back into text."""
        ends = (self._template.turn_end.strip(), self._runner.info.eos)
        reasoning = self._template.reasoning
        splitter = ReasoningSplitter(*reasoning, open=request.opens_reasoning) if reasoning else None
        stop = (*request.sampling.stop, *self._template.stop_texts)
        return TextAssembler(stop=stop, end_markers=EndMarkers(ends, self._turn_starts), reasoning=splitter)

    def forget_texts(self) -> None:
        """Drop the remembered texts, after somebody deleted his."""
        self._remembered_text_tokens.cache_clear()

    def _encoded(self, segments: Sequence[Segment], messages: Sequence[Mapping[str, Any]]) -> EncodedPrompt:
        tokens: list[int] = []
        num_shared = 0
        for segment in segments:
            tokens.extend(self._segment_tokens(segment, messages))
            if self._is_shared(segment, messages):
                num_shared = len(tokens)
        if self._runner.info.adds_bos:
            bos = self._part_tokens(self._runner.info.bos)
            if tokens[: len(bos)] != list(bos):
                tokens = [*bos, *tokens]
        return EncodedPrompt(tokens, num_shared, self._template.opens_reasoning(segments))

    def _segment_tokens(self, segment: Segment, messages: Sequence[Mapping[str, Any]]) -> Sequence[int]:
        if segment.special:
            return self._part_tokens(segment.text)
        if segment.exact and segment.message is not None and (ids := messages[segment.message].get("token_ids")):
            return list(ids)
        return self._text_tokens(segment.text)

    def _is_shared(self, segment: Segment, messages: Sequence[Mapping[str, Any]]) -> bool:
        if segment.special or segment.message != 0 or not self.shared_system:
            return False
        first = messages[0]
        return first["role"] == "system" and first["content"] == self.shared_system and segment.exact

    def _text_tokens(self, text: str) -> Sequence[int]:
        return self._remembered_text_tokens(text) if len(text) <= _REMEMBERED_CHARS else self._tokenize_text(text)

    def _tokenize_part(self, text: str) -> tuple[int, ...]:
        return tuple(self._runner.tokenize(text, special=True))

    def _tokenize_text(self, text: str) -> tuple[int, ...]:
        """A text's tokens, none of them a marker of the vocabulary, whatever it says.

        llama.cpp leaves control tokens alone when `special` is off, but not those that a file declares as "user
        defined", and some files declare their `<think>` or `<|user|>` so. Such a marker is cut behind its first
        character, and the halves are tokenised apart.
        """
        tokens = self._runner.tokenize(text, special=False)
        if not any(token in self._markers for token in tokens):
            return tuple(tokens)
        cuts = [match.start() + 1 for match in self._marker_texts.finditer(text)]
        pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        return tuple(
            token
            for piece in pieces
            for token in self._runner.tokenize(piece, special=False)
            if token not in self._markers
        )

    def _find_turn_start(self) -> tuple[frozenset[int], tuple[str, ...]]:
        """Control tokens that begin a person's turn, and their text: where the model writes one, it has overrun."""
        talk = [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b"},
            {"role": "user", "content": "c"},
        ]
        segments = self._template.render(talk)
        places = [place for place, segment in enumerate(segments) if segment.message == 2]
        before = segments[places[0] - 1].text if places and places[0] > 0 else ""
        before = before.removeprefix(self._template.turn_end)
        tokens = frozenset(
            token
            for token in self._part_tokens(before)
            if self._runner.is_control(token) and not self._runner.is_end(token) and token not in self.reasoning_tokens
        )
        return tokens, tuple(self._markers[token] for token in tokens if token in self._markers)


def _template(info: ModelInfo) -> ChatTemplate:
    """The model's own template, or a plain one where the file's cannot be read: an odd file is no reason to fail."""
    try:
        return ChatTemplate(info.chat_template, bos=info.bos, eos=info.eos)
    except TemplateError as error:
        logger.warning("The chat template of %s cannot be used, a plain one is: %s", info.name, error)
        return ChatTemplate("", bos=info.bos, eos=info.eos)


def _longest_first(texts: Iterable[str]) -> list[str]:
    return sorted(texts, key=len, reverse=True)
