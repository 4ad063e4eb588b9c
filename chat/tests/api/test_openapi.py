"""What the OpenAPI file says is true, and no request that it allows meets an internal error."""

import json
import shutil

import pytest
import schemathesis
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings

from chat.api.site import api
from chat.tests.server.conftest import prepared  # noqa: F401

from .serving import serving

pytestmark = [pytest.mark.server, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def server(prepared, tmp_path_factory):  # noqa: F811
    data = shutil.copytree(prepared, tmp_path_factory.mktemp("openapi") / "data")
    with serving(data, script={"replies": [{"say": "Yes. <b> 1"}]}) as server:
        yield server


# As plain JSON: some of it is objects that only know how to become that.
DESCRIBED = json.loads(json.dumps(api.get_openapi_schema(path_prefix=""), default=str))
OPERATIONS = {found.ok().label: found.ok() for found in schemathesis.openapi.from_dict(DESCRIBED).get_all_operations()}


@pytest.mark.parametrize("name", OPERATIONS)
def test_nothing_that_is_asked_is_an_internal_error(name, server):
    @settings(max_examples=25, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=HealthCheck)
    @given(case=OPERATIONS[name].as_strategy())
    def ask(case):
        headers = {"Authorization": f"Bearer {server.keys[0]}"}
        answer = case.call(base_url=server.url, headers=headers, timeout=30)
        assert answer.status_code < 500, answer.text
        if answer.status_code >= 400 and "json" in answer.headers.get("content-type", [""])[0]:
            assert set(json.loads(answer.content)["error"]) == {"message", "type", "param", "code"}

    ask()


def test_it_is_at_a_stable_address_and_names_how_keys_are_sent(transactional_db):
    described = Client().get("/openapi.json").json()
    assert {"/v1/chat/completions", "/v1/completions", "/v1/models", "/chat", "/health"} <= set(described["paths"])
    assert described["components"]["securitySchemes"]["ApiKeyAuth"] == {"type": "http", "scheme": "bearer"}
    assert "security" not in described["paths"]["/health"]["get"]
