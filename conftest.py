"""What tests of every app share: the people."""

import pytest
from django.contrib.auth import get_user_model


def _person(name):
    return get_user_model().objects.create_user(name, f"{name}@example.org", "correct horse battery")


@pytest.fixture
def alice(db):
    """Has conversations."""
    return _person("alice")


@pytest.fixture
def bob(db):
    """Has an account, but nothing to do with Alice's conversations."""
    return _person("bob")


@pytest.fixture
def owner(db):
    """The person who set the site up."""
    return get_user_model().objects.create_superuser("olivia", "olivia@example.org", "correct horse battery")


@pytest.fixture(autouse=True)
def plain_static_files(settings):
    """Pages can be rendered without collecting static files first."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}
    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # WhiteNoise warns when it is missing.


@pytest.fixture(autouse=True)
def quick_passwords(settings):
    """A slow hash is the point elsewhere; here it would be most of the time."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def nobody_elses_replies():
    """A reply that was registered when its test had ended already is not found by the next one."""
    from chat.replies import running

    for reply in running:
        running.drop(reply)


@pytest.fixture(autouse=True)
def no_wrong_keys():
    """What came with a wrong API key in one test is not held against the next."""
    from accounts.keys import failures

    failures.clear()
