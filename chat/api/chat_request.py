"""The body of `/v1/chat/completions`."""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, field_validator, model_validator

from chat.api.messages import STRICT, Message, Name
from chat.api.sampling import MAX_TOKENS, SamplingFields

# What a template sees of these comes from a person, so it must not be able to spell a control token.
_HARMLESS = re.compile(r"[\w .,:/+-]{0,100}")
_RESERVED = frozenset(
    {"messages", "tools", "bos_token", "eos_token", "add_generation_prompt", "strftime_now", "raise_exception"}
)
Switch = bool | Annotated[int, Field(ge=-1_000_000, le=1_000_000)] | float | str | None


class JsonSchema(BaseModel):
    """A schema that the reply is held to, by grammar; see docs/api.md for what it may use."""

    model_config = STRICT
    name: Annotated[str, Field(max_length=64)] = "reply"
    schema_: dict[str, Any] = Field(alias="schema")
    strict: bool | None = None
    description: str | None = None


class PlainFormat(BaseModel):
    """Free text, or any JSON object."""

    model_config = STRICT
    type: Literal["text", "json_object"]


class SchemaFormat(BaseModel):
    """JSON that follows a schema."""

    model_config = STRICT
    type: Literal["json_schema"]
    json_schema: JsonSchema


class ToolFunction(BaseModel):
    """What the model may call; `parameters` is a JSON Schema of an object."""

    model_config = STRICT
    name: Name
    description: Annotated[str, Field(max_length=8192)] | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class Tool(BaseModel):
    """One tool; functions are the only kind."""

    model_config = STRICT
    type: Literal["function"]
    function: ToolFunction


class ChosenFunction(BaseModel):
    """The name of a tool."""

    model_config = STRICT
    name: Name


class ChosenTool(BaseModel):
    """The tool that must be called."""

    model_config = STRICT
    type: Literal["function"]
    function: ChosenFunction


class ChatRequest(SamplingFields):
    """A conversation to be continued."""

    messages: Annotated[list[Message], Field(min_length=1, max_length=4096)]
    max_completion_tokens: Annotated[int, Field(ge=1, le=MAX_TOKENS)] | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    response_format: Annotated[PlainFormat | SchemaFormat, Field(discriminator="type")] | None = None
    tools: Annotated[list[Tool], Field(max_length=64)] | None = None
    tool_choice: Literal["none", "auto", "required"] | ChosenTool | None = None
    parallel_tool_calls: bool | None = None
    chat_template_kwargs: dict[str, Switch] | None = Field(
        None, description='Switches of the model\'s template, such as `{"enable_thinking": false}`.', max_length=16
    )

    @field_validator("chat_template_kwargs")
    @classmethod
    def _is_harmless(cls, switches: dict[str, Switch] | None) -> dict[str, Switch] | None:
        for name, value in (switches or {}).items():
            if not (name.isidentifier() and len(name) <= 64) or name.startswith("_") or name in _RESERVED:
                raise ValueError(f"{name[:64]!r} cannot be set.")
            if isinstance(value, str) and not _HARMLESS.fullmatch(value):
                raise ValueError(f"The text of {name} may have letters, digits and simple punctuation, up to 100.")
        return switches

    @model_validator(mode="after")
    def _fits_together(self) -> "ChatRequest":
        if self.top_logprobs and not self.logprobs:
            raise ValueError("top_logprobs needs logprobs: true.")
        names = [tool.function.name for tool in self.tools or ()]
        if len(names) != len(set(names)):
            raise ValueError("Each tool needs a name of its own.")
        if isinstance(self.tool_choice, ChosenTool) and self.tool_choice.function.name not in names:
            raise ValueError(f"tool_choice names {self.tool_choice.function.name}, which is not among the tools.")
        if self.tool_choice == "required" and not names:
            raise ValueError("tool_choice is required, but there are no tools.")
        return self
