"""Every setting of the site, each read once from the environment; docs/configuration.md describes them."""

import os
from pathlib import Path

from csp.constants import NONE, SELF

from chatsite import databases, env

# Telemetry of a library that comes along: never, whatever the environment says.
os.environ["LANGSMITH_TRACING"] = "false"
os.environ["LANGCHAIN_TRACING_V2"] = "false"
# On an abort ggml would start a debugger and print memory, people's words included.
os.environ.setdefault("GGML_NO_BACKTRACE", "1")

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = env.path("DATA_DIR", BASE_DIR / "var")

# --- The site ---------------------------------------------------------------------------------------------------------

DEBUG = env.flag("DEBUG", default=False)
SECRET_KEY = env.secret("SECRET_KEY", DATA_DIR / "secret_key")
HOST = env.text("HOST", "127.0.0.1")
PORT = env.integer("PORT", 8000, least=0, most=65535)
# Names under which the site may be opened. ORIGINS holds full addresses (https://chat.example.org) of a proxy in front.
ORIGINS = env.items("ORIGINS")
_ORIGIN_HOSTS = [origin.split("://", 1)[-1].split("/", 1)[0].rsplit(":", 1)[0] for origin in ORIGINS]
# This machine's own names always work: health checks use them.
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *env.items("ALLOWED_HOSTS"), *_ORIGIN_HOSTS]
CSRF_TRUSTED_ORIGINS = ORIGINS
# How many proxies in front of the site may be believed about the client's address and scheme.
TRUSTED_PROXIES = env.integer("TRUSTED_PROXIES", 0, least=0, most=10)
if TRUSTED_PROXIES:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

INSTALLED_APPS = [
    "daphne",
    "channels",
    "accounts",
    "chat",
    "accounts.panel.PanelConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "ninja",
    "axes",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "chatsite.staticfiles.Middleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "chatsite.urls"
ASGI_APPLICATION = "chatsite.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
LANGUAGE_CODE = "en"
USE_TZ = True
TIME_ZONE = env.text("TIME_ZONE", "UTC")
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Static files -----------------------------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = DATA_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "chatsite.staticfiles.Storage"},
}
WHITENOISE_USE_FINDERS = DEBUG

# --- Data -------------------------------------------------------------------------------------------------------------

DATABASES = {"default": databases.choose(env.text("DATABASE_URL"), DATA_DIR)}
# Notices only; text travels through chat.replies (docs/adr/0003-replies-belong-to-the-server.md).
# The layer drops what a socket has not read beyond its capacity, without a word, so that is generous.
CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer", "CONFIG": {"capacity": 1000}}}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

# --- People and security ----------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
SESSION_ENGINE = "chatsite.sessions"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 30
# Over plain HTTP the browser would drop secure cookies, so they are secure as soon as every public address is https.
_HTTPS = bool(ORIGINS) and all(origin.startswith("https://") for origin in ORIGINS)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _HTTPS
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# No other site learns an address of ours. "no-referrer" would make browsers send forms with "Origin: null".
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "django.views.csrf.csrf_failure"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
# Guessing: five failures of a person from one address in a quarter of an hour, then 429.
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = 0.25
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_CALLABLE = "accounts.views.locked_out"
AXES_RESET_ON_SUCCESS = True
AXES_ENABLE_ACCESS_FAILURE_LOG = False
AXES_VERBOSE = False
AXES_CLIENT_IP_CALLABLE = "accounts.guessing.client_address"
# A try while locked out is refused unseen and does not lengthen the wait, so that Retry-After is true.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
# It would keep who logged in when and from where for ever, and the links that were opened.
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
OWNER_USERNAME = env.text("CHAT_OWNER_USERNAME")
OWNER_PASSWORD = env.text("CHAT_OWNER_PASSWORD")
# Who reads the figures at /metrics; without it the address does not exist.
METRICS_TOKEN = env.text("METRICS_TOKEN")
INVITATION_DAYS = env.integer("INVITATION_DAYS", 7, least=1, most=90)

# --- Limits -----------------------------------------------------------------------------------------------------------

MESSAGE_MAX_BYTES = env.integer("MESSAGE_MAX_BYTES", 32 * 1024, least=256, most=1024 * 1024)
FRAME_MAX_BYTES = env.integer("FRAME_MAX_BYTES", 256 * 1024, least=1024, most=1024 * 1024)
FRAMES_PER_10_SECONDS = env.integer("FRAMES_PER_10_SECONDS", 20, least=1, most=10_000)
SOCKETS_PER_PERSON = env.integer("SOCKETS_PER_PERSON", 10, least=1, most=1000)
BODY_MAX_BYTES = env.integer("BODY_MAX_BYTES", 2 * 1024 * 1024, least=64 * 1024, most=1024 * 1024 * 1024)
DATA_UPLOAD_MAX_MEMORY_SIZE = BODY_MAX_BYTES

# --- The model --------------------------------------------------------------------------------------------------------

LLM_MODEL_PATH = env.path("LLM_MODEL_PATH", DATA_DIR / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf")
# 0 lets chat.inference.config choose what suits the machine and the model.
LLM_CONTEXT = env.integer("LLM_CONTEXT", 0, least=0, most=1_048_576)
LLM_SLOTS = env.integer("LLM_SLOTS", 0, least=0, most=64)
LLM_THREADS = env.integer("LLM_THREADS", 0, least=0, most=512)
# Steps of the engine: tokens read when nobody is writing, and while somebody is. 0: as tuned, else 512 and 48.
LLM_BATCH = env.integer("LLM_BATCH", 0, least=0, most=8192)
LLM_BUSY_BATCH = env.integer("LLM_BUSY_BATCH", 0, least=0, most=8192)
# Whether weights and settings of DATA_DIR/tuned are used (manage.py tune).
LLM_TUNED = env.flag("LLM_TUNED", default=True)
LLM_AUTOSTART = env.flag("LLM_AUTOSTART", default=True)
# A JSON file by which a scripted runner answers instead of a model, for tests (chat.inference.testing).
LLM_SCRIPT = env.text("LLM_SCRIPT")
LLM_REASONING = env.flag("LLM_REASONING", default=True)
LLM_TEMPERATURE = env.number("LLM_TEMPERATURE", 0.7, least=0, most=2)
LLM_MAX_REPLY_TOKENS = env.integer("LLM_MAX_REPLY_TOKENS", 1024, least=1, most=1_048_576)
LLM_MAX_REPLY_SECONDS = env.integer("LLM_MAX_REPLY_SECONDS", 600, least=1, most=86_400)
LLM_QUEUE_LIMIT = env.integer("LLM_QUEUE_LIMIT", 100, least=1, most=100_000)
LLM_QUEUE_LIMIT_PERSON = env.integer("LLM_QUEUE_LIMIT_PERSON", 20, least=1, most=100_000)
# Conversations that lost their slot: MiB of memory (-1: what suits the machine), a directory for the rest, MiB of it.
LLM_PARK_MB = env.integer("LLM_PARK_MB", -1, least=-1, most=1_048_576)
LLM_PARK_DIR = env.path("LLM_PARK_DIR", Path()) if env.text("LLM_PARK_DIR") else None
LLM_PARK_DISK_MB = env.integer("LLM_PARK_DISK_MB", 4096, least=1, most=1_073_741_824)
# Finds what was said in other words; "off": none, "scripted": one that counts words, for tests.
EMBED_MODEL_PATH = env.path(
    "EMBED_MODEL_PATH", DATA_DIR / "models" / "all-MiniLM-L6-v2.gguf", words=("off", "scripted")
)
CHAT_SYSTEM_PROMPT = env.text("CHAT_SYSTEM_PROMPT", "You are a helpful assistant. Answer clearly and to the point.")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"},
        "json": {"()": "chatsite.logs.JsonFormatter"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": env.choice("LOG_FORMAT", "text", among=("text", "json")),
        }
    },
    "root": {"handlers": ["stderr"], "level": env.text("LOG_LEVEL", "INFO")},
    "loggers": {
        "django.channels.server": {"level": "WARNING"},
        "axes": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
    },
}
