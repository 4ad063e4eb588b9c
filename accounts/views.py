"""Logging in and out, getting an account by a link, and looking after it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash, views
from django.contrib.auth.decorators import login_required
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from accounts.forms import AcceptForm, NameForm, OwnPasswordForm
from accounts.guessing import seconds_until_unlocked
from accounts.models import AlreadyAccepted, Invitation, User


class LoginView(views.LoginView):
    """Name and password; who is logged in already goes on."""

    redirect_authenticated_user = True


class LogoutView(views.LogoutView):
    """Ends this session; by POST only."""


@method_decorator([never_cache, sensitive_post_parameters()], name="dispatch")
class AcceptInvitation(View):
    """A one-time link becomes an account; a link that is unknown, used or out of date looks the same."""

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        """The form."""
        invitation = Invitation.objects.with_token(token).first()
        return self._answer(request, invitation, AcceptForm()) if invitation else self._refuse(request)

    def post(self, request: HttpRequest, token: str) -> HttpResponse:
        """The account; the new person is logged in."""
        if (invitation := Invitation.objects.with_token(token).first()) is None:
            return self._refuse(request)
        form = AcceptForm(request.POST)
        if not form.is_valid():
            return self._answer(request, invitation, form)
        person = form.save(commit=False)
        try:
            invitation.accept(person)
        except AlreadyAccepted:
            return self._refuse(request)
        except IntegrityError:  # Somebody took the name since the form looked.
            form.add_error("username", "A person with that username already exists.")
            return self._answer(request, invitation, form)
        login(request, person, backend="django.contrib.auth.backends.ModelBackend")
        return redirect("home")

    def _answer(self, request: HttpRequest, invitation: Invitation, form: AcceptForm) -> HttpResponse:
        return render(request, "accounts/accept.html", {"form": form, "invitation": invitation})

    def _refuse(self, request: HttpRequest) -> HttpResponse:
        return render(request, "accounts/no_invitation.html", status=404)


@method_decorator([never_cache, sensitive_post_parameters(), login_required], name="dispatch")
class Account(View):
    """One's own name and password."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """Both forms."""
        return self._answer(request)

    def post(self, request: HttpRequest) -> HttpResponse:
        """Whichever of the two was sent."""
        return self._change_password(request) if "new_password1" in request.POST else self._change_name(request)

    def _change_name(self, request: HttpRequest) -> HttpResponse:
        form = NameForm(request.POST, instance=_row(request))
        if not form.is_valid():
            return self._answer(request, name_form=form)
        form.save()
        messages.success(request, "Your name is saved.")
        return redirect("account")

    def _change_password(self, request: HttpRequest) -> HttpResponse:
        form = OwnPasswordForm(request, request.POST)
        if not form.is_valid():
            return self._answer(request, password_form=form)
        update_session_auth_hash(request, form.save())
        messages.success(request, "Your password is changed. Wherever else you were logged in, you no longer are.")
        return redirect("account")

    def _answer(self, request: HttpRequest, **forms: Any) -> HttpResponse:
        forms.setdefault("name_form", NameForm(instance=_row(request)))
        forms.setdefault("password_form", OwnPasswordForm(request))
        return render(request, "accounts/account.html", forms)


def locked_out(request: HttpRequest, *_: object) -> HttpResponse:
    """After too many failures: 429, and when to try again.

    axes hands over other things under ASGI than under WSGI, so only the request counts.
    """
    seconds = seconds_until_unlocked(request)
    response = render(request, "accounts/locked_out.html", {"minutes": -(-seconds // 60)}, status=429)
    response["Retry-After"] = str(seconds)
    return response


def _row(request: HttpRequest) -> User:
    """The person as stored, apart from request.user, which the page's header shows."""
    assert isinstance(request.user, User)
    return User.objects.get(pk=request.user.pk)
