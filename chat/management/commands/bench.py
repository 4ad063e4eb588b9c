"""`manage.py bench`: how soon the first word comes, over HTTP from a running site, for prompts that nobody has read."""

import json
import secrets
import statistics
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

import httpx
from django.core.management.base import BaseCommand, CommandError

# Some 230 tokens of the default model, the template included.
_SENTENCE = "The quick brown fox jumps. "


class Command(BaseCommand):
    help = "Measure the time to the first word of fresh prompts, over HTTP from a running site."
    requires_system_checks: list[str] = []  # noqa: RUF012 (as Django declares it)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("key", help="An API key (manage.py create_api_key).")
        parser.add_argument("--url", default="http://127.0.0.1:8000", help="The site's address.")
        parser.add_argument("--times", type=int, default=9, help="How often; the median counts.")
        parser.add_argument("--sentences", type=int, default=33, help="Length of the prompt, six tokens each.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            measured = [self._measure(options) for _ in range(options["times"])]
        except httpx.HTTPError as error:
            raise CommandError(f"{options['url']} did not answer: {error}") from error
        first, prompt_tokens = zip(*measured, strict=True)
        self.stdout.write(
            f"{prompt_tokens[0]} prompt tokens: first word after {statistics.median(first):.2f} s"
            f" (median of {len(first)}; {min(first):.2f} to {max(first):.2f})"
        )

    def _measure(self, options: dict[str, Any]) -> tuple[float, int]:
        """Seconds until the first word, and tokens of the prompt."""
        text = f"{secrets.token_hex(4)} " + _SENTENCE * options["sentences"]
        body = {
            "messages": [{"role": "user", "content": text}],
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": 4,
        }
        headers = {"Authorization": f"Bearer {options['key']}"}
        began, first, tokens = time.monotonic(), 0.0, 0
        with httpx.stream(
            "POST", f"{options['url']}/v1/chat/completions", json=body, headers=headers, timeout=120
        ) as got:
            if got.status_code != 200:
                raise CommandError(f"The site answered {got.status_code}: {got.read().decode(errors='replace')[:300]}")
            for part in _parts(got):
                if not first and any(choice["delta"].get("content") for choice in part["choices"]):
                    first = time.monotonic() - began
                tokens = (part.get("usage") or {}).get("prompt_tokens") or tokens
        return first, tokens


def _parts(answer: httpx.Response) -> Iterator[Any]:
    return (json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: {"))
