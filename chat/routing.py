"""The socket's address."""

from django.urls import path

from chat.consumers import ChatConsumer

websocket_urlpatterns = [path("ws/conversations/<uuid:conversation>/", ChatConsumer.as_asgi())]
