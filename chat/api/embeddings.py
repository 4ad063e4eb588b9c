"""`POST /v1/embeddings`: texts as vectors, by the embedding model that memory uses as well."""

import asyncio
import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import orjson
from django.http import HttpResponse
from ninja import Body, Router, Schema
from pydantic import BaseModel, Field

from chat import runtime
from chat.api.auth import KeyRequest
from chat.api.described import answers_of
from chat.api.errors import SERVER, ApiError, invalid
from chat.api.generation import ANY_MODEL
from chat.api.messages import STRICT
from chat.inference.embedding import Urgency, Vectors

if TYPE_CHECKING:
    from chat.inference.embedding import Embedder

router = Router(tags=["OpenAI"])

MAX_TEXTS = 2048
# Tokens of all texts of a request: less than a minute of one core with the default model.
MAX_TOKENS = 65_536

Text = Annotated[str, Field(min_length=1)]
Tokens = Annotated[list[Annotated[int, Field(ge=0, lt=2**31)]], Field(min_length=1, max_length=MAX_TOKENS)]


class EmbeddingRequest(BaseModel):
    """Texts, or what this model's tokenizer made of them."""

    model_config = STRICT
    model: Annotated[str, Field(min_length=1, max_length=256)] = ANY_MODEL
    input: (
        Text
        | Annotated[list[Text], Field(min_length=1, max_length=MAX_TEXTS)]
        | Tokens
        | Annotated[list[Tokens], Field(min_length=1, max_length=MAX_TEXTS)]
    )
    encoding_format: Literal["float", "base64"] | None = Field(
        None, description="base64: 32-bit little-endian numbers."
    )
    dimensions: Annotated[int, Field(ge=1)] | None = Field(None, description="None but the model's own can be had.")
    user: str | None = Field(None, description="Not used.")


class EmbeddingBody(Schema):
    """One text's vector, of length 1."""

    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class EmbeddingUsage(Schema):
    """Tokens of all texts; what OpenAI charges for."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingList(Schema):
    """The vectors in the order of the texts."""

    object: Literal["list"] = "list"
    model: str
    data: list[EmbeddingBody]
    usage: EmbeddingUsage


@router.post("/embeddings", response=answers_of(EmbeddingList), summary="Turn texts into vectors")
async def embeddings(request: KeyRequest, payload: Body[EmbeddingRequest]) -> HttpResponse:
    """Vectors of length 1, one a text; the nearer two texts are in meaning, the larger is their product."""
    embedder = loaded_embedder(payload.model)
    if payload.dimensions not in {None, embedder.info.dims}:
        raise invalid(f"This model's vectors have {embedder.info.dims} dimensions and no others.", "dimensions")
    texts = await asyncio.to_thread(_tokens, embedder, payload.input)
    work = embedder.submit(texts, Urgency.PROGRAM, person=request.auth.pk)
    vectors = await asyncio.wrap_future(work)
    answer = await asyncio.to_thread(_answer, embedder.info.name, texts, vectors, payload.encoding_format)
    return HttpResponse(answer, content_type="application/json")


def loaded_embedder(name: str = ANY_MODEL) -> "Embedder":
    """The embedding model of this site by its name, or by "default". Raises ApiError 404 and 503."""
    embedder = runtime.embedder()
    if embedder is None and runtime.status().reason == runtime.LOADING:
        raise ApiError(503, "No model is loaded yet.", kind=SERVER, code="model_not_loaded", retry_after=5)
    if embedder is None:
        message = "No embedding model is configured on this server; it writes replies only."
        raise ApiError(404, message, param="model", code="model_not_found")
    if name not in {ANY_MODEL, embedder.info.name}:
        message = f"There is no embedding model {name[:100]!r} here. Use {embedder.info.name!r} or {ANY_MODEL!r}."
        raise ApiError(404, message, param="model", code="model_not_found")
    return embedder


def _tokens(embedder: "Embedder", given: str | list[str] | list[int] | list[list[int]]) -> list[list[int]]:
    """Each text's tokens. Raises ApiError for what the model cannot read."""
    texts: Sequence[Any] = [given] if isinstance(given, str) or isinstance(given[0], int) else given
    tokens = [embedder.tokenize(text) if isinstance(text, str) else text for text in texts]
    most, known = embedder.info.max_tokens, embedder.info.vocabulary_size
    if [] in tokens:
        raise invalid(f"Text {tokens.index([])} has nothing in it that this model reads.", "input")
    longest, total = max(map(len, tokens)), sum(map(len, tokens))
    if longest > most:
        reason = f"A text has {longest} tokens; this model can read {most}."
        raise invalid(reason, "input", "context_length_exceeded")
    if total > MAX_TOKENS:
        raise invalid(f"The texts have {total} tokens; one request may have {MAX_TOKENS}.", "input")
    if largest := next((token for text in tokens for token in text if token >= known), None):
        raise invalid(f"{largest} is no token of this model, which has {known}.", "input")
    return tokens


def _answer(model: str, texts: list[list[int]], vectors: Vectors, encoding: str | None) -> bytes:
    total = sum(map(len, texts))
    encoded: list[Any] = list(vectors)
    if encoding == "base64":
        encoded = [base64.b64encode(vector.astype("<f4").tobytes()).decode() for vector in vectors]
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(encoded)]
    usage = {"prompt_tokens": total, "total_tokens": total}
    answer = {"object": "list", "model": model, "data": data, "usage": usage}
    return orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY)
