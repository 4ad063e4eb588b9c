"""An origin is this site's own only if scheme, host and port are, all three."""

import pytest

from chat import origins


@pytest.fixture(autouse=True)
def site(settings):
    settings.ALLOWED_HOSTS = ["chat.example", "[::1]"]
    settings.ORIGINS = ("https://public.example", "http://other.example:8080/")
    settings.TRUSTED_PROXIES = 0


def is_own(*origin, host="chat.example", **headers):
    pairs = [(b"origin", value.encode("latin1")) for value in origin] + [(b"host", host.encode())]
    pairs += [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return origins.is_own({"headers": pairs})


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://chat.example", "chat.example"),
        ("http://chat.example", "chat.example:80"),
        ("http://chat.example:8000", "chat.example:8000"),
        ("http://CHAT.example", "chat.EXAMPLE"),
        ("http://[::1]:8000", "[::1]:8000"),
        ("https://public.example", "chat.example"),
        ("https://public.example:443", "chat.example"),
        ("http://other.example:8080", "chat.example"),
    ],
)
def test_the_address_itself_and_those_of_the_settings_are(origin, host):
    assert is_own(origin, host=host)


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "null",
        "https://chat.example",
        "http://chat.example:8000",
        "http://sub.chat.example",
        "http://chat.example.evil.example",
        "http://evilchat.example",
        "http://chat.example@evil.example",
        "http://user@chat.example",
        "http://chat.example/",
        "http://chat.example:x",
        "http://chat.example:99999",
        "http://[chat.example",
        "ftp://chat.example",
        "//chat.example",
        "http://public.example",
        "https://other.example:8080",
        "http://chät.example",
    ],
)
def test_nothing_else_is(origin):
    assert not is_own(origin)


def test_none_and_two_are_refused():
    assert not is_own()
    assert not is_own("http://chat.example", "http://chat.example")


def test_a_host_that_the_site_does_not_answer_to_proves_nothing():
    assert not is_own("http://evil.example", host="evil.example")
    assert not is_own("http://chat.example", host="")


def test_the_scheme_that_a_proxy_tells_counts_only_if_proxies_are_trusted(settings):
    assert not is_own("https://chat.example", x_forwarded_proto="https")
    settings.TRUSTED_PROXIES = 1
    assert is_own("https://chat.example", x_forwarded_proto="https")
    assert not is_own("http://chat.example", x_forwarded_proto="https")
    assert is_own("http://chat.example", x_forwarded_proto="http")
