"""The page where a person makes, sees and revokes keys for programs."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache

from accounts.forms import KeyForm
from accounts.models import ApiKey, User

_ENDED_SHOWN = 20


@method_decorator([never_cache, login_required], name="dispatch")
class Keys(View):
    """One's own keys, and the form for another."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """The list."""
        return _page(request, KeyForm(_person(request)))

    def post(self, request: HttpRequest) -> HttpResponse:
        """The new key, in the answer itself: the only time it is shown, so it must not pass through a session."""
        form = KeyForm(_person(request), request.POST)
        if not form.is_valid():
            return _page(request, form)
        row, key = form.issue()
        return _page(request, KeyForm(_person(request)), made=row, key=key)


@method_decorator([never_cache, login_required], name="dispatch")
class RevokeKey(View):
    """Ends one of one's own keys, after a question."""

    def get(self, request: HttpRequest, key: int) -> HttpResponse:
        """The question."""
        return render(request, "accounts/revoke_key.html", {"key": _own(request, key)})

    def post(self, request: HttpRequest, key: int) -> HttpResponse:
        """It is refused from now on."""
        row = _own(request, key)
        row.revoke()
        messages.success(request, f"“{row}” is revoked.")
        return redirect("keys")


def _page(request: HttpRequest, form: KeyForm, **made: ApiKey | str) -> HttpResponse:
    own = ApiKey.objects.visible_to(request.user).select_related("owner")
    active = list(own.usable())
    ended = own.exclude(pk__in=[row.pk for row in active])[:_ENDED_SHOWN]
    address = request.build_absolute_uri("/v1")
    return render(
        request, "accounts/keys.html", {"form": form, "active": active, "ended": ended, "v1": address, **made}
    )


def _own(request: HttpRequest, key: int) -> ApiKey:
    return get_object_or_404(ApiKey.objects.visible_to(request.user), pk=key)


def _person(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
