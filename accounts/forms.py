"""The forms by which people get an account and look after it."""

from typing import Any

from django import forms
from django.contrib.auth import authenticate
from django.contrib.auth.forms import PasswordChangeForm, UserCreationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from accounts.models import User


class AcceptForm(UserCreationForm):  # type: ignore[type-arg]
    """What somebody with an invitation tells about himself."""

    class Meta:
        model = User
        fields = ("username", "first_name", "last_name")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].help_text = "Letters, digits and @ . + - _ only."
        self.fields["username"].widget.attrs["autocomplete"] = "username"
        self.fields["first_name"].widget.attrs["autocomplete"] = "given-name"
        self.fields["last_name"].widget.attrs["autocomplete"] = "family-name"


class NameForm(forms.ModelForm):  # type: ignore[type-arg]
    """How a person is called."""

    class Meta:
        model = User
        fields = ("first_name", "last_name")


class OwnPasswordForm(PasswordChangeForm):
    """A new password for who knows the old one; wrong ones count as failed logins."""

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        assert isinstance(request.user, User)
        super().__init__(request.user, *args, **kwargs)
        self.request = request
        del self.fields["old_password"].widget.attrs["autofocus"]

    def clean_old_password(self) -> str:
        """Asks the login machinery, so that a stolen session cannot guess without end."""
        old_password: str = self.cleaned_data["old_password"]
        if authenticate(self.request, username=self.user.get_username(), password=old_password) != self.user:
            raise ValidationError(self.error_messages["password_incorrect"], code="password_incorrect")
        return old_password
