"""The forms with which a person corrects what is remembered, and forgets."""

from django import forms

from chat import typed


class SummaryForm(forms.Form):
    """What the assistant shall remember of a conversation's older messages."""

    text = forms.CharField(
        label="What the assistant remembers",
        help_text="The model reads this instead of the messages that it stands for. The version before is kept.",
        strip=False,
        widget=forms.Textarea(attrs={"autofocus": True, "rows": 12, "dir": "auto"}),
    )

    def clean_text(self) -> str:
        """Something that can be seen."""
        text = typed.clean(self.cleaned_data["text"]).strip()
        if typed.is_blank(text):
            raise forms.ValidationError("A summary needs at least one character that can be seen.")
        return text


class ForgetForm(forms.Form):
    """How much is forgotten with a message."""

    with_answers = forms.BooleanField(label="Forget the answers to it as well", required=False, initial=True)
