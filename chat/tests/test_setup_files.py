"""What is written twice, in code and in files that no program reads, says the same."""

import re
from pathlib import Path

import pytest

from chat.management.commands import get_embedding_model, get_model

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = (ROOT / "chatsite/settings.py").read_text()
READ = set(re.findall(r'env\.[a-z]+\(\s*"([A-Z_0-9]+)"', SETTINGS))
TABLE = (ROOT / "docs/configuration.md").read_text()
DESCRIBED = set(re.findall(r"^\| `([A-Z_0-9]+)`", TABLE, re.MULTILINE))


def test_every_variable_is_described_and_every_described_one_exists():
    assert len(READ) > 20
    assert READ == DESCRIBED


@pytest.mark.parametrize("what", [get_model.PACKAGE, get_model.MEMBER, get_model.SHA256])
def test_the_image_has_the_model_that_get_model_fetches(what):
    assert what in (ROOT / "Dockerfile").read_text()


@pytest.mark.parametrize(
    "what", [get_embedding_model.PACKAGE, get_embedding_model.FILE, *get_embedding_model.MEMBERS.values()]
)
def test_the_image_has_the_embedding_model_that_get_embedding_model_makes(what):
    assert what in (ROOT / "Dockerfile").read_text()


@pytest.mark.parametrize("script", sorted(path.name for path in (ROOT / "bin").iterdir()))
def test_scripts_are_short_explained_and_executable(script):
    file = ROOT / "bin" / script
    lines = file.read_text().splitlines()
    assert file.stat().st_mode & 0o111
    assert len(lines) < 30
    assert lines[0].startswith("#!")
    assert lines[1].startswith("# ")


def test_requirements_are_pinned_exactly():
    for name in ("requirements.txt", "requirements-postgresql.txt", "requirements-dev.txt"):
        for line in (ROOT / name).read_text().splitlines():
            assert re.fullmatch(r"#.*|-r requirements(-postgresql)?\.txt|[\w.-]+(\[[\w,]+\])?==[\w.]+|", line), line
