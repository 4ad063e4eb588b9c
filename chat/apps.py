"""The app that holds conversations and the model that answers in them."""

from django.apps import AppConfig


class ChatConfig(AppConfig):
    """Conversations, their memory and the engine."""

    name = "chat"
    verbose_name = "Conversations"

    def ready(self) -> None:
        """Let open sockets know when a person leaves or changes."""
        from django.contrib.auth import get_user_model
        from django.contrib.auth.signals import user_logged_out
        from django.db.models.signals import post_delete, post_save

        from chat import sessions

        user_logged_out.connect(sessions.logged_out)
        for signal in (post_save, post_delete):
            signal.connect(sessions.changed, sender=get_user_model())
