"""The API of this site: its routers, who may use them, and how errors look."""

from ninja import NinjaAPI

from chat.api import chat_completions, completions, conversations, embeddings, models, plain
from chat.api.auth import ApiKeyAuth
from chat.api.errors import handle_errors
from chat.api.parsing import StrictParser

api = NinjaAPI(
    title="Chat API",
    version="1",
    description=(
        "The model of this server for programs: OpenAI's interface below `/v1`, a plain one at `/chat`, and "
        "conversations with memory. Send a key of your account page as `Authorization: Bearer KEY`."
    ),
    auth=ApiKeyAuth(),
    parser=StrictParser(),
    urls_namespace="api",
    # The site has pages of its own for both (chat.api.docs).
    openapi_url=None,
    docs_url=None,
)
handle_errors(api)
for router in (chat_completions.router, completions.router, embeddings.router, models.router):
    api.add_router("/v1", router)
api.add_router("", plain.router)
api.add_router("/v1/conversations", conversations.router)
