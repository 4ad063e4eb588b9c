"""Without its tables the site says what to run instead of starting."""

import os
import subprocess
import sys

import pytest

from .process import ROOT

pytestmark = pytest.mark.server


def test_a_database_without_tables_ends_the_start_with_words(tmp_path):
    env = os.environ | {"DATA_DIR": str(tmp_path), "LLM_AUTOSTART": "0"}
    command = [sys.executable, "-c", "import chatsite.asgi"]
    done = subprocess.run(command, cwd=ROOT, env=env, text=True, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "Run: python manage.py prepare" in done.stderr
    assert "Traceback" not in done.stderr
