"""Where the data is: the SQLite file in DATA_DIR, or the PostgreSQL database that DATABASE_URL names."""

from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_SCHEMES = ("postgresql", "postgres")
_FORM = "postgresql://user:password@host:5432/name"
_ENCODE = "In user and password, write : / ? # @ % as %3A %2F %3F %23 %40 %25."
# What libpq is told unless the address says otherwise: a server that is away is noticed within seconds, and whoever
# waits for somebody else's lock gives up as soon as with SQLite.
_OPTIONS = {
    "connect_timeout": "5",
    "keepalives_idle": "30",
    "tcp_user_timeout": "20000",
    "options": "-c lock_timeout=5s",
}
# Each request has a thread of its own, so connections are shared. One that has broken is found out before it is used,
# and a server that comes back is found within seconds (chat/tests/postgresql).
_POOL = {"min_size": 1, "max_size": 20, "timeout": 5.0, "max_idle": 300.0, "reconnect_timeout": 4.0}


def choose(url: str, data: Path) -> dict[str, Any]:
    """Django's settings of the database: of PostgreSQL if there is an address, else of the file in `data`.

    Raises ImproperlyConfigured, which never shows the address, for that may hold a password.
    """
    return postgresql(url) if url else sqlite(data)


def sqlite(data: Path) -> dict[str, Any]:
    """The file, with a log beside it so that readers do not wait for the writer."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": data / "chat.sqlite3",
        "CONN_MAX_AGE": 60,
        # A file, because the server's threads must see the same data as the test.
        "TEST": {"NAME": data / "test.sqlite3"},
        "OPTIONS": {
            # A writer takes the lock when its transaction begins, so that two of them wait instead of failing half-way.
            "transaction_mode": "IMMEDIATE",
            "timeout": 5,
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;"
                "PRAGMA mmap_size=134217728; PRAGMA journal_size_limit=27103364; PRAGMA cache_size=2000;"
                # What is deleted is overwritten (chat/memory/purging_sqlite.py has the rest).
                "PRAGMA secure_delete=ON;"
            ),
        },
    }


def postgresql(url: str) -> dict[str, Any]:
    """A server's database, reached through a pool of this process. What stands behind `?` goes to libpq."""
    parts, port = _split(url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    name = unquote(parts.path.removeprefix("/"))
    if not name or "/" in name:
        raise ImproperlyConfigured(f"DATABASE_URL names no database: {_FORM}")
    host = options.pop("host", "") or _host(parts)
    _check_driver(options)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": port,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {**_OPTIONS, **options, "pool": dict(_POOL)},
    }


def _split(url: str) -> tuple[SplitResult, str]:
    """The parts of an address, and its port or nothing."""
    if url.partition("://")[0] not in _SCHEMES:
        raise ImproperlyConfigured(f"DATABASE_URL must look like {_FORM}, or be empty for the SQLite file in DATA_DIR.")
    try:
        parts = urlsplit(url)
        port = str(parts.port or "")
    except ValueError:
        raise ImproperlyConfigured(f"DATABASE_URL has a host or a port that cannot be: {_FORM}. {_ENCODE}") from None
    if parts.fragment:
        raise ImproperlyConfigured(f"DATABASE_URL must not have a # in it. {_ENCODE}")
    return parts, port


def _host(parts: SplitResult) -> str:
    """The server's name or address, or the directory of its socket (%2Frun%2Fpostgresql), in its own case."""
    host = parts.netloc.rpartition("@")[2]
    return host[1:].partition("]")[0] if host.startswith("[") else unquote(host.partition(":")[0])


def _check_driver(options: dict[str, str]) -> None:
    try:
        import psycopg
        import psycopg_pool  # noqa: F401
    except ImportError as error:
        raise ImproperlyConfigured(
            f"DATABASE_URL needs PostgreSQL's driver ({error}). Run: bin/setup requirements-postgresql.txt"
        ) from None
    try:
        psycopg.conninfo.make_conninfo(**options)
    except psycopg.ProgrammingError as error:
        raise ImproperlyConfigured(
            f"DATABASE_URL has an option that libpq does not know: {str(error).strip()}"
        ) from None
