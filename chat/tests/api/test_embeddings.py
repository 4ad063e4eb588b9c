"""Programs get vectors in OpenAI's shape, or a reason why not."""

import asyncio
import base64
import threading

import numpy as np
import pytest

from chat import runtime
from chat.api.embeddings import MAX_TOKENS
from chat.inference import EngineFailed
from chat.inference.embedding import MAX_WAITING, MAX_WAITING_PERSON

PATH = "/v1/embeddings"


def vectors_of(answer):
    return np.array([item["embedding"] for item in answer.body["data"]], np.float32)


async def test_one_text_gives_one_vector_and_its_usage(embed, program):
    embedder = embed()
    answer = await program.post(PATH, {"model": "hashed-words", "input": "My dog is called Rex"})
    assert answer.status_code == 200
    assert answer.body["object"] == "list"
    assert answer.body["model"] == "hashed-words"
    assert answer.body["usage"] == {"prompt_tokens": 5, "total_tokens": 5}
    assert [(item["object"], item["index"]) for item in answer.body["data"]] == [("embedding", 0)]
    assert np.allclose(vectors_of(answer), embedder.embed(["My dog is called Rex"]))


async def test_texts_and_tokens_give_the_same_in_order(embed, program):
    embedder = embed()
    texts = ["one two", "three", "four five six"]
    tokens = [embedder.tokenize(text) for text in texts]
    of_texts, of_tokens = [await program.post(PATH, {"input": given}) for given in (texts, tokens)]
    assert [item["index"] for item in of_texts.body["data"]] == [0, 1, 2]
    assert np.allclose(vectors_of(of_texts), embedder.embed(texts))
    assert np.array_equal(vectors_of(of_texts), vectors_of(of_tokens))
    alone = await program.post(PATH, {"input": tokens[1]})
    assert np.allclose(vectors_of(alone)[0], vectors_of(of_texts)[1])


async def test_base64_holds_the_same_numbers(embed, program):
    embedder = embed()
    answer = await program.post(PATH, {"input": ["one", "two"], "encoding_format": "base64"})
    decoded = [np.frombuffer(base64.b64decode(item["embedding"]), "<f4") for item in answer.body["data"]]
    assert np.allclose(decoded, embedder.embed(["one", "two"]))


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "input"),
        ({"input": ""}, "input"),
        ({"input": " "}, "input"),
        ({"input": []}, "input"),
        ({"input": ["one", ""]}, "input"),
        ({"input": [[]]}, "input"),
        ({"input": 7}, "input"),
        ({"input": None}, "input"),
        ({"input": [1.5]}, "input"),
        ({"input": [-1]}, "input"),
        ({"input": [2**31 - 1] * 600}, "input"),
        ({"input": ["one", 2]}, "input"),
        ({"input": ["one"] * 2049}, "input"),
        ({"input": [[1]] * 100_000}, "input"),
        ({"input": "one", "dimensions": 32}, "dimensions"),
        ({"input": "one", "encoding_format": "int8"}, "encoding_format"),
    ],
)
async def test_what_cannot_be_is_refused_with_the_field(embed, program, body, param):
    embed()
    answer = await program.post(PATH, body)
    assert answer.status_code == 400
    assert answer.body["error"]["param"].split(".")[0] == param
    assert (await program.post(PATH, {"input": "next"})).status_code == 200


async def test_the_models_own_dimensions_can_be_named(embed, program):
    embed()
    assert (await program.post(PATH, {"input": "one", "dimensions": 64})).status_code == 200


async def test_a_text_that_is_too_long_is_refused_with_both_numbers(embed, program):
    embed()
    answer = await program.post(PATH, {"input": ["word " * 513]})
    assert answer.status_code == 400
    assert answer.body["error"]["code"] == "context_length_exceeded"
    assert {"513", "512"} <= set(answer.body["error"]["message"].replace(";", "").replace(".", "").split())


async def test_too_much_in_all_is_refused(embed, program):
    embed()
    answer = await program.post(PATH, {"input": ["word " * 512] * (MAX_TOKENS // 512 + 1)})
    assert answer.status_code == 400
    assert str(MAX_TOKENS) in answer.body["error"]["message"]


async def test_a_token_of_another_model_is_refused(embed, program):
    embedder = embed()
    object.__setattr__(embedder.info, "vocabulary_size", 100)
    answer = await program.post(PATH, {"input": [99, 100]})
    assert answer.status_code == 400
    assert "100 is no token" in answer.body["error"]["message"]


async def test_without_a_model_the_reason_is_told(serve, program):
    serve()
    answer = await program.post(PATH, {"input": "one"})
    assert answer.status_code == 404
    assert answer.body["error"]["code"] == "model_not_found"
    assert "No embedding model is configured" in answer.body["error"]["message"]


async def test_while_it_is_loaded_one_is_asked_to_wait(program):
    runtime.use(None, runtime.LOADING)
    answer = await program.post(PATH, {"input": "one"})
    runtime.use(None)
    assert answer.status_code == 503
    assert answer["Retry-After"]


async def test_the_chat_model_gives_no_vectors(serve, embed, program):
    serve(name="Little Model")
    embed()
    answer = await program.post(PATH, {"model": "Little Model", "input": "one"})
    assert answer.status_code == 404
    assert "hashed-words" in answer.body["error"]["message"]


async def test_without_a_key_there_is_nothing(embed, program):
    embed()
    assert (await program.post(PATH, {"input": "one"}, headers={})).status_code == 401


async def test_a_failure_is_told_without_details(embed, program):
    embed(fails=EngineFailed("The embedding model refused 3 tokens."))
    answer = await program.post(PATH, {"input": "one"})
    assert answer.status_code == 500
    assert answer.body["error"]["type"] == "server_error"


async def test_a_full_queue_is_429_for_one_person_and_503_for_all(embed, program):
    embedder, gate = embed(), threading.Event()
    compute = embedder.model.vectors
    embedder.model.vectors = lambda windows: gate.wait(10) and compute(windows)
    requests = [asyncio.create_task(program.post(PATH, {"input": "one"})) for _ in range(MAX_WAITING_PERSON)]
    while len(embedder._jobs) < MAX_WAITING_PERSON:
        await asyncio.sleep(0.001)
    refused = await program.post(PATH, {"input": "one"})
    assert refused.status_code == 429
    assert refused["Retry-After"]
    others = [embedder.submit([[1]]) for _ in range(MAX_WAITING - MAX_WAITING_PERSON)]
    gate.set()
    assert {answer.status_code for answer in await asyncio.gather(*requests)} == {200}
    assert all(other.result(10).shape == (1, 64) for other in others)
