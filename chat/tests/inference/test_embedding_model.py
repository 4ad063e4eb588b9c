"""The default embedding model in llama.cpp: its tokens, its vectors, and files that are none."""

import gguf
import numpy as np
import pytest

from chat.inference import EngineFailed
from chat.inference.embedding import Embedder
from chat.inference.llama.embedder import LlamaEmbedding
from chat.inference.model_file import ModelNotLoaded

from .wordpiece import pieces

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def model(embedding_model_path):
    """The model itself."""
    loaded = LlamaEmbedding(embedding_model_path)
    yield loaded
    loaded.close()


@pytest.fixture(scope="module")
def words(embedding_model_path):
    """The vocabulary as WordPiece writes it, by token."""
    field = gguf.GGUFReader(embedding_model_path).fields["tokenizer.ggml.tokens"]
    texts = field.contents()
    special = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"} | {f"[unused{number}]" for number in range(994)}
    return [text if text in special else text[1:] if text[0] == "\u2581" else f"##{text}" for text in texts]


@pytest.mark.parametrize(
    "text",
    [
        "Hello, world! My dog's name is Rex.",
        "Crème brûlée à la façon de l'Été; Straße ÄÖÜ; Tiếng Việt có dấu Đặng",
        "İstanbul ILGAZ ıI e\u0301 n\u0303",
        "Привет, как дела? Ёлка Йод",
        "Γειά σου Κόσμε ΣΊΣΥΦΟΣ",
        "你好，世界。我的狗叫雷克斯 中a文b \U00020000",
        "日本語のテスト。がぎぐ パピプ ゔヴ",
        "한국어 문장 테스트",
        "العربية نص مَرْحَبًا שָׁלוֹם ภาษาไทย",
        "a+b=c; $5.99 €20 100% #tag @user http://x.org/a?b=c&d=1 snake_case `x`^y~z|<>",
        "“quotes” ‘single’ — dash … «guillemets» 😀 👍🏽",
        "tab\tnew\nline\r\nnbsp\u00a0x\u2003y\u200bz\ufeff soft\u00adhyphen",
        "ligne\u2028sep \u3000全角 ﬁ ½ ™ Ａ",
        "[CLS] [SEP] [MASK] ##ing ## \u2581word",
        "supercalifragilisticexpialidocious 1234567890 3.14159",
        "",
        " \n ",
    ],
)
def test_tokens_are_those_of_wordpiece(model, words, text):
    assert [words[token] for token in model.tokenize(text)] == pieces(text, set(words))


def test_sentences_that_mean_the_same_are_near(embedding_model_path):
    embedder = Embedder(LlamaEmbedding(embedding_model_path))
    statement, question, unrelated = embedder.embed(
        ["My dog is called Rex", "What is the name of my pet?", "The train to Berlin leaves at nine"]
    )
    assert statement @ question == pytest.approx(0.65, abs=0.02)
    assert statement @ unrelated < 0.05
    embedder.close()


def test_a_vector_does_not_depend_on_what_is_computed_with_it(model):
    windows = [model.tokenize(text) for text in ("My dog is called Rex", "no", "The train leaves at nine " * 5)]
    together = model.vectors(windows)
    for window, vector in zip(windows, together, strict=True):
        alone = model.vectors([window])[0]
        assert vector @ alone / np.linalg.norm(vector) / np.linalg.norm(alone) > 0.9999


def test_what_is_too_much_is_refused_before_llama_sees_it(model):
    most = model.vectors([[2000] * model.info.context])
    assert most.shape == (1, 384)
    for windows in ([], [[2000] * (model.info.context + 1)], [[2000]] * 9):
        with pytest.raises(EngineFailed):
            model.vectors(windows)


@pytest.mark.parametrize("content", [b"", b"GGUF", b"GGUF\x03\0\0\0" + b"\0" * 64, b"PK\x03\x04 something else"])
def test_a_file_that_is_no_model_is_told(tmp_path, content):
    file = tmp_path / "broken.gguf"
    file.write_bytes(content)
    with pytest.raises(ModelNotLoaded, match=r"broken\.gguf"):
        LlamaEmbedding(file)


def test_a_missing_file_names_the_setting(tmp_path):
    with pytest.raises(ModelNotLoaded, match="EMBED_MODEL_PATH"):
        LlamaEmbedding(tmp_path / "none.gguf")


def test_one_that_writes_replies_gives_vectors_too(model_path):
    embedder = Embedder(LlamaEmbedding(model_path))
    vectors = embedder.embed(["My dog is called Rex", "", "The train leaves at nine"])
    assert vectors.shape == (3, embedder.info.dims)
    assert np.allclose(np.linalg.norm(vectors, axis=1), [1, 0, 1], atol=1e-5)
    embedder.close()
