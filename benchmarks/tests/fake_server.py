"""A server of the size of a test: answers each request with what it was given, chunk by chunk."""

import asyncio
from contextlib import asynccontextmanager

import orjson


class FakeServer:
    """`requests` has the bodies that came, `url` is where it listens. `chunks` are what it answers with."""

    def __init__(self, chunks, status="200 OK"):
        self.chunks, self.status = chunks, status
        self.requests, self.heads = [], []

    async def answer(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = int(head.lower().split("content-length: ")[1].split("\r\n")[0])
        self.heads.append(head)
        self.requests.append(orjson.loads(await reader.readexactly(length) or b"null"))
        writer.write(f"HTTP/1.1 {self.status}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        for chunk in self.chunks:
            writer.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        writer.close()


@asynccontextmanager
async def served(chunks, **more):
    """Run one; its `url` is set."""
    fake = FakeServer(chunks, **more)
    server = await asyncio.start_server(fake.answer, "127.0.0.1", 0)
    fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield fake
    finally:
        server.close()


def stream(*texts, tokens=None):
    """The body of a reply in OpenAI's shape: a role, these pieces, the usage."""
    parts = [{"choices": [{"delta": {"role": "assistant", "content": ""}}]}]
    parts += [{"choices": [{"delta": {"content": text}}]} for text in texts]
    parts.append({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": tokens or len(texts)}})
    return b"".join(b"data: " + orjson.dumps(part) + b"\n\n" for part in parts) + b"data: [DONE]\n\n"
