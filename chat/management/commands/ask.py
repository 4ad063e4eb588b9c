"""`manage.py ask "..."`: one question to the model, its answer streamed to the terminal."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from langchain_core.messages import HumanMessage, SystemMessage

from chat import runtime, typed
from chat.inference import EngineFailed, PromptTooLong


class Command(BaseCommand):
    help = "Ask the model one question and print its answer as it is written."
    requires_system_checks: list[str] = []  # noqa: RUF012 (as Django declares it)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("question", help="What to ask; - reads it from standard input.")
        parser.add_argument("--temperature", type=float, help="0 is greedy: the same answer every time.")
        parser.add_argument("--max-tokens", type=int, help="The longest answer, in tokens.")
        parser.add_argument("--seed", type=int, help="The same seed gives the same answer.")
        parser.add_argument("--system", default=settings.CHAT_SYSTEM_PROMPT, help="What the model is told to be.")

    def handle(self, *args: Any, **options: Any) -> None:
        raw = sys.stdin.read() if options["question"] == "-" else options["question"]
        question = typed.clean(raw)
        if typed.is_blank(question):
            raise CommandError("There is no question.")
        try:
            self._answer([SystemMessage(options["system"]), HumanMessage(question)], options)
        except (runtime.ModelUnavailable, EngineFailed, PromptTooLong, ValueError) as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            self.stdout.write("")
            raise SystemExit(130) from None

    def _answer(self, messages: list[Any], options: dict[str, Any]) -> None:
        model = runtime.wait_until_loaded()
        chosen = {name: options[name] for name in ("temperature", "max_tokens", "seed")}
        last = None
        for chunk in model.stream(messages, **chosen):
            self.stdout.write(chunk.text, ending="")
            self.stdout.flush()
            last = chunk.response_metadata.get("usage") or last
        self.stdout.write("")
        if last and options["verbosity"] > 1:
            self.stderr.write(f"{last['prompt_tokens']} tokens read, {last['completion_tokens']} written")
        runtime.stop()
