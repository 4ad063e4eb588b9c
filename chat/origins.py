"""Whether a WebSocket was opened by a page of this site: scheme, host and port are compared, all three."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host

Scope = dict[str, Any]
_DEFAULT_PORTS = {"http": 80, "https": 443}


def is_own(scope: Scope) -> bool:
    """True when the Origin is one of settings.ORIGINS, or the very address at which the socket was asked for."""
    origins = _headers(scope, b"origin")
    origin = _parts(origins[0]) if len(origins) == 1 else None
    if origin is None:
        return False
    return origin in {_parts(address.rstrip("/")) for address in settings.ORIGINS} or origin == _asked_for(scope)


def _asked_for(scope: Scope) -> tuple[str, str, int] | None:
    hosts = _headers(scope, b"host")
    if len(hosts) != 1 or not validate_host(split_domain_port(hosts[0])[0], settings.ALLOWED_HOSTS):
        return None
    return _parts(f"{_scheme(scope)}://{hosts[0]}")


def _scheme(scope: Scope) -> str:
    secure = scope.get("scheme") in ("https", "wss")
    # Anybody can send this header; a proxy that we trust replaces it.
    forwarded = _headers(scope, b"x-forwarded-proto")
    if settings.TRUSTED_PROXIES and forwarded:
        secure = forwarded[0].split(",")[0].strip() == "https"
    return "https" if secure else "http"


def _parts(address: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of an address that has nothing else."""
    try:
        url = urlsplit(address.lower())
        port = url.port
    except ValueError:
        return None
    if url.scheme not in _DEFAULT_PORTS or not url.hostname or address.lower() != f"{url.scheme}://{url.netloc}":
        return None
    if "@" in url.netloc:
        return None
    return url.scheme, url.hostname, _DEFAULT_PORTS[url.scheme] if port is None else port


def _headers(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin1") for key, value in scope["headers"] if key.lower() == name]
