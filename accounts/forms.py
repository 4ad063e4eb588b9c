"""The forms by which people get an account and look after it."""

from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.contrib.auth import authenticate
from django.contrib.auth.forms import PasswordChangeForm, UserCreationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import ApiKey, User

_MOST_KEYS = 50
_LONGEST = timedelta(days=3650)


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


class KeyForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new API key of a person."""

    last_day = forms.DateField(
        required=False,
        label="Last day (optional)",
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
    )

    class Meta:
        model = ApiKey
        fields = ("name",)

    def __init__(self, owner: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.owner, today = owner, timezone.localdate()
        self.fields["name"].widget.attrs["autocomplete"] = "off"
        self.fields["last_day"].widget.attrs.update(min=today.isoformat(), max=(today + _LONGEST).isoformat())
        zone = timezone.get_current_timezone_name()
        self.fields[
            "last_day"
        ].help_text = f"It works to the end of that day ({zone}); without one, until you revoke it."

    def clean_last_day(self) -> date | None:
        """Today at the earliest."""
        last_day: date | None = self.cleaned_data["last_day"]
        if last_day and last_day < timezone.localdate():
            raise ValidationError("That day is over.")
        if last_day and last_day > timezone.localdate() + _LONGEST:
            raise ValidationError("That is more than ten years away. Leave it empty for a key without an end.")
        return last_day

    def clean(self) -> dict[str, Any]:
        """Keeps the list short enough to look through."""
        if ApiKey.objects.visible_to(self.owner).usable().count() >= _MOST_KEYS:
            raise ValidationError(f"You have {_MOST_KEYS} keys already. Revoke one that is no longer needed first.")
        return super().clean() or {}

    def issue(self) -> tuple[ApiKey, str]:
        """The new row with its key, which cannot be shown again."""
        last_day = self.cleaned_data["last_day"]
        until = last_day and timezone.make_aware(datetime.combine(last_day + timedelta(days=1), time.min))
        return ApiKey.issue(self.owner, self.cleaned_data["name"], until=until)
