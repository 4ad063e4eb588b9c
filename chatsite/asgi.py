"""The ASGI application: pages over HTTP, conversations over WebSockets, and the engine that starts beside them."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatsite.settings")
pages = get_asgi_application()

# What follows needs the apps to be loaded.
from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402

from chat import runtime  # noqa: E402
from chat.routing import websocket_urlpatterns  # noqa: E402

application = ProtocolTypeRouter({"http": pages, "websocket": AuthMiddlewareStack(URLRouter(websocket_urlpatterns))})
runtime.start()
