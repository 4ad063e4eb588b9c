"""Static files under names that carry their hash, the imports between JavaScript modules included."""

from collections.abc import Iterator
from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage

# Nothing of ours uses htmx's extensions, and comments in them look like imports of files that do not exist.
_LEFT_OUT = "django_htmx/ext/"


class Storage(CompressedManifestStaticFilesStorage):
    """Whitenoise's storage, which by default leaves module imports pointing at names without a hash."""

    support_js_module_import_aggregation = True

    def post_process(self, paths: dict[str, Any], *args: Any, **options: Any) -> Iterator[Any]:
        """Hash and compress what was collected; yields name, new name and whether that worked."""
        used = {name: path for name, path in paths.items() if not name.startswith(_LEFT_OUT)}
        yield from super().post_process(used, *args, **options)  # type: ignore[no-untyped-call]
