"""How tokens are chosen: the fields that all kinds of completions share, checked, and what the engine makes of them."""

from dataclasses import replace
from typing import Annotated, Any

from pydantic import BaseModel, Field, field_validator, model_validator

from chat.api.messages import STRICT
from chat.inference import SamplingParams

MAX_CHOICES = 8
MAX_TOKENS = 1_048_576  # more than any context; the context ends a reply before
_SEEDS = 2**32 - 1

StopText = Annotated[str, Field(min_length=1, max_length=256)]
_REFUSED = {
    "grammar": "A raw grammar is not accepted; use response_format with a json_schema.",
    "guided_grammar": "A raw grammar is not accepted; use response_format with a json_schema.",
    "functions": "functions is not supported; use tools.",
    "function_call": "function_call is not supported; use tool_choice.",
}


class StreamOptions(BaseModel):
    """What a stream tells beside the text."""

    model_config = STRICT
    include_usage: bool | None = None


class SamplingFields(BaseModel):
    """Fields of every completion; null means the default, which is the site's own."""

    model_config = STRICT
    model: Annotated[str, Field(min_length=1, max_length=256)] = "default"
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Annotated[int, Field(ge=1, le=MAX_TOKENS)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=-1, le=1_000_000)] | None = Field(None, description="0 and -1: all tokens.")
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    repeat_penalty: Annotated[float, Field(ge=0.1, le=10)] | None = None
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    stop: StopText | Annotated[list[StopText], Field(max_length=4)] | None = None
    n: Annotated[int, Field(ge=1, le=MAX_CHOICES)] | None = None
    logit_bias: dict[str, Annotated[float, Field(ge=-100, le=100)]] | None = Field(
        None, description="Token ids of this model, and what is added to their logits.", max_length=1024
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse(cls, fields: Any) -> Any:
        for name, reason in _REFUSED.items():
            if isinstance(fields, dict) and fields.get(name) is not None:
                raise ValueError(reason)
        return fields

    @field_validator("logit_bias")
    @classmethod
    def _has_token_ids(cls, biases: dict[str, float] | None) -> dict[str, float] | None:
        if any(not (token.isascii() and token.isdigit() and len(token) <= 9) for token in biases or ()):
            raise ValueError("The names in logit_bias must be token ids.")
        return biases

    @property
    def choices(self) -> int:
        """How many replies are wanted."""
        return self.n or 1

    @property
    def wants_usage(self) -> bool:
        """Whether a stream ends with what it cost."""
        return bool(self.stream_options and self.stream_options.include_usage)

    def sampling(self, defaults: SamplingParams, **more: Any) -> list[SamplingParams]:
        """The parameters of each choice; with a seed, choices differ from each other and are the same next time.

        Where tokens are bound to be likely or to fit a grammar, penalties are only what the client asks for.
        """
        if self.temperature == 0 or more.get("grammar"):
            more.setdefault("repeat_penalty", 1.0)
        chosen = more | {name: value for name in _SAME if (value := getattr(self, name)) is not None}
        if self.top_k is not None:
            chosen["top_k"] = max(0, self.top_k)
        if self.stop:
            chosen["stop"] = (self.stop,) if isinstance(self.stop, str) else tuple(self.stop)
        if self.logit_bias:
            chosen["logit_bias"] = tuple((int(token), bias) for token, bias in self.logit_bias.items())
        params = replace(defaults, **chosen)
        if self.seed is None:
            return [params] * self.choices
        return [replace(params, seed=(self.seed + index) % _SEEDS) for index in range(self.choices)]


_SAME = (
    "max_tokens",
    "temperature",
    "top_p",
    "min_p",
    "frequency_penalty",
    "presence_penalty",
    "repeat_penalty",
)
