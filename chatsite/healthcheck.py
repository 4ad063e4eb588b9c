"""Ends with 0 when the site of this container answers, with 1 when it does not."""

import http.client
import os
import sys


def main() -> int:
    """Ask /healthz on the port of this environment, directly, whatever proxy is set."""
    connection = http.client.HTTPConnection("127.0.0.1", int(os.environ.get("PORT") or 8000), timeout=4)
    try:
        connection.request("GET", "/healthz")
        return int(connection.getresponse().status != 200)
    except OSError:
        return 1


if __name__ == "__main__":
    sys.exit(main())
