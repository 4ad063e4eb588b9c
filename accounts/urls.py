"""The addresses of logging in and getting an account."""

from django.urls import path

from accounts.key_views import Keys, RevokeKey
from accounts.views import AcceptInvitation, Account, LoginView, LogoutView

urlpatterns = [
    path("login/", LoginView.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("account/", Account.as_view(), name="account"),
    path("account/keys/", Keys.as_view(), name="keys"),
    path("account/keys/<int:key>/revoke/", RevokeKey.as_view(), name="revoke_key"),
    path("invitations/<slug:token>/", AcceptInvitation.as_view(), name="accept_invitation"),
    # The owner's first link; the same view, because the invitation says what its person becomes.
    path("setup/<slug:token>/", AcceptInvitation.as_view(), name="setup"),
]
