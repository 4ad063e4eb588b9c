"""The messages of a request, as clients write them and as the model's template takes them."""

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, field_validator, model_validator

from chat.typed import clean, is_blank

STRICT = ConfigDict(strict=True, allow_inf_nan=False)
Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.-]+$")]


class TextPart(BaseModel):
    """One part of a content; only text can be read."""

    model_config = STRICT
    type: Annotated[str, Field(max_length=64)]
    text: str = ""

    @field_validator("type")
    @classmethod
    def _is_text(cls, kind: str) -> str:
        if kind != "text":
            raise ValueError(f"{kind} is not supported: this model reads text alone.")
        return kind


def _form(content: object) -> str:
    return "parts" if isinstance(content, list) else "text"


Content = Annotated[
    Annotated[str, Tag("text")] | Annotated[list[TextPart], Field(max_length=256), Tag("parts")], Discriminator(_form)
]


class CalledFunction(BaseModel):
    """A call's function, with its arguments as JSON text."""

    model_config = STRICT
    name: Name
    arguments: str = "{}"

    @field_validator("arguments")
    @classmethod
    def _is_json(cls, text: str) -> str:
        try:
            json.loads(text or "{}")
        except (ValueError, RecursionError):
            raise ValueError("The arguments of a call must be JSON.") from None
        return text or "{}"


class ToolCall(BaseModel):
    """A call that the model made in an earlier turn."""

    model_config = STRICT
    id: Annotated[str, Field(max_length=128)] = ""
    type: Literal["function"] = "function"
    function: CalledFunction


class Message(BaseModel):
    """One turn. `developer` is another word for `system`."""

    model_config = STRICT
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: Content | None = None
    reasoning_content: str | None = None
    tool_calls: Annotated[list[ToolCall], Field(max_length=64)] | None = None
    tool_call_id: Annotated[str, Field(max_length=128)] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "Message":
        if self.role == "user" and is_blank(self.text):
            raise ValueError("A message of a user must say something.")
        if self.tool_calls and self.role != "assistant":
            raise ValueError("Only an assistant makes tool_calls.")
        return self

    @property
    def text(self) -> str:
        """The content as one text, without control characters."""
        content = self.content or ""
        return clean(content if isinstance(content, str) else "\n".join(part.text for part in content))

    def plain(self) -> dict[str, Any]:
        """As chat.inference.prompt takes it."""
        plain: dict[str, Any] = {"role": "system" if self.role == "developer" else self.role, "content": self.text}
        if self.reasoning_content:
            plain["reasoning_content"] = clean(self.reasoning_content)
        if self.tool_calls:
            plain["tool_calls"] = [
                {"id": call.id, "name": call.function.name, "arguments": json.loads(call.function.arguments)}
                for call in self.tool_calls
            ]
        if self.tool_call_id:
            plain["tool_call_id"] = self.tool_call_id
        return plain
