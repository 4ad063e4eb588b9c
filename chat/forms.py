"""The page's small forms."""

from django import forms

from chat import typed
from chat.models import Fact


class RenameForm(forms.Form):
    """A conversation's title."""

    title = forms.CharField(
        max_length=200,
        widget=forms.TextInput(attrs={"autofocus": True, "autocomplete": "off"}),
    )

    def clean_title(self) -> str:
        """One line in which something can be seen."""
        title = " ".join(typed.clean(self.cleaned_data["title"]).split())
        if typed.is_blank(title):
            raise forms.ValidationError("A title needs at least one character that can be seen.")
        return title


class FactForm(forms.Form):
    """One fact about a person, in his own words."""

    text = forms.CharField(
        label="Fact",
        max_length=300,
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": "My dog is called Rex."}),
    )
    kind = forms.ChoiceField(choices=Fact.Kind.choices, initial=Fact.Kind.OTHER)

    def clean_text(self) -> str:
        """One line in which something can be seen."""
        text = " ".join(typed.clean(self.cleaned_data["text"]).split())
        if typed.is_blank(text):
            raise forms.ValidationError("A fact needs at least one character that can be seen.")
        return text
