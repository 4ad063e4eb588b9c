"""The administrators' panel: Django's admin under our name and behind our login page."""

from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse


class PanelConfig(AdminConfig):
    """Puts the panel in the place of Django's default site."""

    default_site = "accounts.panel.Panel"


class Panel(AdminSite):
    """Where administrators look after people and see what is going on."""

    site_header = "Team chat: administration"
    site_title = "Administration"
    index_title = "Administration"
    site_url = "/"

    def login(self, request: HttpRequest, *_: object) -> HttpResponse:
        """There is one login page; who is logged in and may not come in is told so instead of being asked again."""
        from django.contrib.auth.views import redirect_to_login

        if request.user.is_authenticated and not self.has_permission(request):
            raise PermissionDenied("The panel is for administrators, and your account is not one of them.")
        return redirect_to_login(request.GET.get("next") or reverse("admin:index"), reverse("login"))

    def logout(self, request: HttpRequest, *_: object) -> HttpResponse:  # type: ignore[override]
        """As everywhere else."""
        from accounts.views import LogoutView

        return LogoutView.as_view()(request)

    def password_change(self, *_: object) -> HttpResponse:  # type: ignore[override]
        """One's own password is changed on one's account page."""
        return redirect("account")

    password_change_done = password_change  # type: ignore[assignment]

    def autocomplete_view(self, *_: object) -> HttpResponse:
        """Closed: it would list titles of conversations to whoever may list conversations."""
        raise Http404
