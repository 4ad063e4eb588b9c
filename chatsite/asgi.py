"""The ASGI application: pages over HTTP, conversations over WebSockets, and the engine that starts beside them."""

import os
import sys

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatsite.settings")
pages = get_asgi_application()

# What follows needs the apps to be loaded.
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.db import DatabaseError, connection  # noqa: E402

from chat import runtime  # noqa: E402
from chat.models import Message  # noqa: E402
from chat.routing import websocket_urlpatterns  # noqa: E402
from chatsite.programs import beside  # noqa: E402

# The consumer finds out itself who is there (chat.sessions): without a thread that all sockets share.
application = ProtocolTypeRouter({"http": beside(pages), "websocket": URLRouter(websocket_urlpatterns)})

# Before anything is accepted: what an earlier process left unfinished has ended.
try:
    Message.interrupt_unfinished()
except DatabaseError as error:
    sys.exit(f"The database cannot be used yet ({error}). Run: python manage.py prepare")
finally:
    connection.close()
runtime.start()
