"""The app that holds conversations and the model that answers in them."""

from django.apps import AppConfig


class ChatConfig(AppConfig):
    """Conversations, their memory and the engine."""

    name = "chat"
    verbose_name = "Conversations"
