"""Static files under names that carry their hash, the imports between JavaScript modules included."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class Storage(CompressedManifestStaticFilesStorage):
    """Whitenoise's storage, which by default leaves module imports pointing at names without a hash."""

    support_js_module_import_aggregation = True
