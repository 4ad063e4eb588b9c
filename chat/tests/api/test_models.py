"""Programs can ask which model there is, and name it in requests."""

import pytest

from .test_chat_completions import ASK


async def test_the_model_is_listed_by_its_name(serve, program):
    serve(name="Little Model")
    assert [model["id"] for model in (await program.get("/v1/models")).body["data"]] == ["Little Model"]
    assert (await program.get("/v1/models/Little%20Model")).body["context_window"] == 2048
    assert (await program.get("/v1/models/default")).body["id"] == "Little Model"


async def test_no_model_is_listed_while_none_is_loaded(program):
    assert (await program.get("/v1/models")).body == {"object": "list", "data": []}


@pytest.mark.parametrize("name", ["gpt-4o", "../../etc/passwd", "<b>"])
async def test_an_unknown_model_is_not_found(serve, program, name):
    serve()
    for answer in (
        await program.post("/v1/chat/completions", ASK | {"model": name}),
        await program.get(f"/v1/models/{name}"),
    ):
        assert answer.status_code == 404
        assert answer.body["error"]["code"] == "model_not_found"


async def test_a_request_may_name_the_model(serve, program):
    serve(name="Little Model")
    answer = await program.post("/v1/chat/completions", ASK | {"model": "Little Model"})
    assert answer.body["model"] == "Little Model"


async def test_the_embedding_model_is_listed_beside_it(serve, embed, program):
    serve(name="Little Model")
    embed()
    assert [model["id"] for model in (await program.get("/v1/models")).body["data"]] == ["Little Model", "hashed-words"]
    assert (await program.get("/v1/models/hashed-words")).body["context_window"] == 512
    assert (await program.get("/v1/models/default")).body["id"] == "Little Model"
