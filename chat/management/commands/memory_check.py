"""`manage.py memory_check`: how good the memory is, measured on conversations of its own, never on the site's."""

import json
from argparse import SUPPRESS, ArgumentParser, BooleanOptionalAction
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm  # type: ignore[import-untyped]

from chat.memory.checking import launch, modelled, worker
from chat.memory.checking.history import UnusableHistory
from chat.memory.checking.run import Options, quick
from chat.memory.checking.values import Report, table
from chat.runtime import ModelUnavailable


class Command(BaseCommand):
    help = (
        "Measure the memory with conversations of its own, in a database of its own: the site's is not touched. Takes "
        "about a minute without a model. Ends with status 0 only if every value is met."
    )
    requires_system_checks: list[str] = []  # noqa: RUF012 (as Django declares it)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--turns", type=int, default=200, help="between a fact and the question about it (200)")
        parser.add_argument("--seed", type=int, default=1, help="of the conversations (1)")
        parser.add_argument("--context", type=int, default=2048, help="the model's, in tokens (2048)")
        parser.add_argument("--quick", action="store_true", help="fewer conversations, for a look in between")
        parser.add_argument("--model", action="store_true", help="with the configured model too; takes minutes")
        parser.add_argument("--embeddings", action=BooleanOptionalAction, default=True, help="use the embedding model")
        parser.add_argument("--json", action="store_true", help="the figures, to standard output alone")
        parser.add_argument(
            "--conversation", type=Path, metavar="FILE", help="show the prompt for this history instead"
        )
        parser.add_argument("--budget", type=int, default=1536, help="of that prompt, in tokens (1536)")
        parser.add_argument("--worker", help=SUPPRESS)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["worker"]:
            return worker.main(json.loads(options["worker"]))
        try:
            if options["conversation"]:
                shown = launch.show(options["conversation"], _at_least("--budget", options["budget"], 64))
                return self.stdout.write(json.dumps(shown, ensure_ascii=False, indent=2))
            report = self._measure(options)
        except (UnusableHistory, launch.RunFailed, ModelUnavailable) as error:
            raise CommandError(str(error)) from error
        self._tell(report, as_json=options["json"])
        if not report.all_met:
            raise SystemExit(1)
        return None

    def _measure(self, options: dict[str, Any]) -> Report:
        chosen = Options(
            turns=_at_least("--turns", options["turns"], 10),
            seed=options["seed"],
            context=_at_least("--context", options["context"], 512),
            exact=options["model"],
        )
        if options["quick"]:
            chosen = quick(chosen)
        with tqdm(total=1, unit="step", leave=False, disable=None, bar_format="{desc}: {percentage:3.0f} %") as bar:

            def progress(done: int, of: int, what: str) -> None:
                bar.total, bar.n = of, done
                bar.set_description(what)

            result = launch.run(chosen, progress, embeddings=options["embeddings"])
            if options["model"]:
                modelled.add(result, chosen, progress)
        return result.report

    def _tell(self, report: Report, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(report.figures(), ensure_ascii=False, indent=2))
            return
        self.stdout.write(table(report.values))
        for value in report.values:
            if value.met is False and value.misses:
                self.stdout.write(f"\n{value.name}: {len(value.misses)} missed, for example")
                self.stdout.writelines(f"  {miss}\n" for miss in value.misses[:5])
        for line in [*(f"{value.name}: {value.note}" for value in report.values if value.note), *report.notes]:
            self.stdout.write(line)
        self.stdout.write(f"Tokens by {report.tokens_by}; {report.seconds:.0f} s.")
        if not report.embedder:
            self.stdout.write("No embedding model was used (EMBED_MODEL_PATH), so search by meaning was not measured.")
        self.stdout.write(report.summary)


def _at_least(name: str, value: int, least: int) -> int:
    if value < least:
        raise CommandError(f"{name} must be at least {least}, not {value}.")
    return value
