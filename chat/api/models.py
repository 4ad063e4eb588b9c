"""`GET /v1/models`: which model answers here, by a name that people can read."""

from typing import Any, Literal

from ninja import Router, Schema

from chat import runtime
from chat.api.auth import KeyRequest
from chat.api.described import answers_of
from chat.api.errors import ApiError
from chat.api.generation import loaded_model

router = Router(tags=["OpenAI"])


class ModelBody(Schema):
    """A model; `context_window` is tokens of prompt and reply together."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "local"
    context_window: int


class ModelList(Schema):
    """All models, of which there is one at most."""

    object: Literal["list"] = "list"
    data: list[ModelBody]


@router.get("/models", response=answers_of(ModelList), summary="List the models")
async def models(request: KeyRequest) -> dict[str, Any]:  # noqa: ARG001
    """The model that is loaded; none while it is being loaded."""
    return {"data": [_described()] if runtime.status().ready else []}


@router.get("/models/{path:model}", response=answers_of(ModelBody), summary="Look at a model")
async def model(request: KeyRequest, model: str) -> dict[str, Any]:  # noqa: ARG001
    """The model of this name, or of the name "default"."""
    return _described(model)


@router.post("/embeddings", response=answers_of(None), summary="Not available", include_in_schema=False)
async def embeddings(request: KeyRequest) -> None:  # noqa: ARG001
    """Always 404: no embedding model can be configured."""
    message = "No embedding model is configured on this server; it writes replies only."
    raise ApiError(404, message, param="model", code="model_not_found")


def _described(name: str = "default") -> dict[str, Any]:
    found = loaded_model(name)
    return {"id": found.model_name, "context_window": found.context_tokens}
