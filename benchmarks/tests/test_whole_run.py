"""The command serves a small file by both, prints the table and says by its exit code whether all bounds are met."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import synthetic
from benchmarks.servers import ROOT
from benchmarks.synthetic import FORMATS, Shape

TINY = Shape("tiny", layers=2, width=64, inner=128, heads=2, kv_heads=1)
MODEL = Path(os.environ.get("TEST_MODEL_PATH") or ROOT / "var" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf")


def bench(*arguments):
    command = [sys.executable, "-m", "benchmarks", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=580, check=False)


@pytest.mark.timeout(600)  # it starts five processes, and a busy machine takes its time
@pytest.mark.server
@pytest.mark.model
def test_both_serve_a_tiny_model_and_the_table_is_printed(tmp_path):
    tiny = tmp_path / "tiny.gguf"
    synthetic.write(tiny, TINY, FORMATS["Q8_0"], MODEL)
    done = bench("--quick", "--only", "one", "--model", tiny, "--threads", 1)
    assert done.returncode in (0, 1), done.stderr  # met or not: this is no measurement
    assert "one client: time to first token" in done.stdout
    assert "peer xllamacpp" in done.stdout


def test_a_file_that_is_not_there_is_refused_at_once(tmp_path):
    done = bench("--model", tmp_path / "none.gguf")
    assert done.returncode == 2
    assert "There is no file" in done.stderr


def test_the_page_is_never_written_from_a_part_of_the_work(tmp_path):
    done = bench("--only", "one", "--markdown", tmp_path / "page.md", "--model", ROOT / "README.md")
    assert done.returncode == 2
    assert "leave out --only or --markdown" in done.stderr
