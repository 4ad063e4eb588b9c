"""The page's small forms."""

from django import forms

from chat import typed


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
