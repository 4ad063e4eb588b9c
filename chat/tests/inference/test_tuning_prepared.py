"""The default model is really written again, says the same, and is loaded in place of the original."""

import pytest

from chat.inference.config import EngineConfig
from chat.inference.llama import LlamaRunner
from chat.inference.model_file import fingerprint
from chat.inference.tuning import tuned, work
from chat.management.commands import get_model

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tuned")


@pytest.fixture(scope="module")
def prepared(folder, model_path):
    """What `prepare` keeps where Q8_0 is faster; whether it is at this moment depends on what else the machine does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(work, "choose_format", lambda table, **_: table[-1])
        patch.setattr(work, "_ROUNDS", 1)
        return work.prepare(model_path, folder)


def test_it_says_the_same(prepared):
    original, rewritten = prepared.formats
    assert 0 < rewritten.divergence.kl <= 0.02
    assert rewritten.divergence.same_top > 0.9
    assert original.speeds.reading > 0 < rewritten.speeds.writing_many


def test_it_is_loaded_under_the_originals_name(prepared, folder, model_path):
    plain = EngineConfig(model_path, context=256, slots=1)
    runner, original = LlamaRunner(tuned(plain, folder)), LlamaRunner(plain)
    try:
        info = runner.info
        assert (info.name, info.fingerprint) == (original.info.name, original.info.fingerprint)
        assert (info.format, original.info.format) == ("Q8_0", "Q4_1")
        assert info.weights == prepared.weights_fingerprint != original.info.weights == info.fingerprint
        text = "Ein Text, a text, def text(): pass"
        assert runner.tokenize(text, special=False) == original.tokenize(text, special=False)
        assert runner.info.chat_template == original.info.chat_template
    finally:
        runner.close()
        original.close()


def test_it_is_not_done_twice(prepared, folder, model_path, monkeypatch):
    monkeypatch.setattr(work, "rewrite", None)
    assert work.prepare(model_path, folder) == prepared


def test_it_is_known_by_its_fingerprint(model_path):
    assert fingerprint(model_path) == get_model.FINGERPRINT
