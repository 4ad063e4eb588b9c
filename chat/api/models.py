"""`GET /v1/models`: which models work here, by names that people can read."""

from typing import Any, Literal

from ninja import Router, Schema

from chat import runtime
from chat.api.auth import KeyRequest
from chat.api.described import answers_of
from chat.api.embeddings import loaded_embedder
from chat.api.generation import loaded_model

router = Router(tags=["OpenAI"])


class ModelBody(Schema):
    """A model; `context_window` is tokens of prompt and reply together, or of a text that it turns into a vector."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "local"
    context_window: int


class ModelList(Schema):
    """All models: the one that writes replies and the one for embeddings, where there are such."""

    object: Literal["list"] = "list"
    data: list[ModelBody]


@router.get("/models", response=answers_of(ModelList), summary="List the models")
async def models(request: KeyRequest) -> dict[str, Any]:  # noqa: ARG001
    """The models that are loaded; none while they are being loaded."""
    found = [_described()] if runtime.status().ready else []
    return {"data": found + ([_described_embedder()] if runtime.embedder() else [])}


@router.get("/models/{path:model}", response=answers_of(ModelBody), summary="Look at a model")
async def model(request: KeyRequest, model: str) -> dict[str, Any]:  # noqa: ARG001
    """The model of this name, or of the name "default"."""
    embedder = runtime.embedder()
    return _described_embedder() if embedder and model == embedder.info.name else _described(model)


def _described(name: str = "default") -> dict[str, Any]:
    found = loaded_model(name)
    return {"id": found.model_name, "context_window": found.context_tokens}


def _described_embedder() -> dict[str, Any]:
    info = loaded_embedder().info
    return {"id": info.name, "context_window": info.max_tokens}
