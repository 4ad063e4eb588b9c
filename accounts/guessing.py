"""Who guesses passwords, from where, and how long he has to wait; the counting is django-axes' work."""

import ipaddress
import math
from datetime import timedelta

from axes.models import AccessAttempt
from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone


def client_address(request: HttpRequest) -> str | None:
    """The address that failures are counted for; of IPv6 its /64, of which one person has plenty of addresses.

    X-Forwarded-For is believed as far as our own proxies wrote it: each adds one entry at the right.
    """
    hops = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if settings.TRUSTED_PROXIES else []
    if len(hops) >= settings.TRUSTED_PROXIES > 0 and (address := _network(hops[-settings.TRUSTED_PROXIES].strip())):
        return address
    return _network(request.META.get("REMOTE_ADDR") or "")


def seconds_until_unlocked(request: HttpRequest) -> int:
    """How long the person whom axes has just refused must wait, in whole seconds, at least 1."""
    cool_off, now = timedelta(hours=settings.AXES_COOLOFF_TIME), timezone.now()
    attempts = AccessAttempt.objects.filter(
        username=(getattr(request, "axes_credentials", None) or {}).get("username"),
        ip_address=client_address(request),
        attempt_time__gt=now - cool_off,
    ).order_by("attempt_time")
    failures = sum(attempt.failures_since_start for attempt in attempts)
    for attempt in attempts:  # One row a browser; each is forgotten a while after its last failure.
        failures -= attempt.failures_since_start
        if failures < settings.AXES_FAILURE_LIMIT:
            return max(1, math.ceil((attempt.attempt_time + cool_off - now).total_seconds()))
    return 1


def _network(address: str) -> str | None:
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return None
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    if ip.ipv4_mapped:
        return str(ip.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(ip), 64), strict=False).network_address)
