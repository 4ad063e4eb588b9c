"""The figures of this process, for Prometheus (docs/api.md). This file stays light: views import it."""
