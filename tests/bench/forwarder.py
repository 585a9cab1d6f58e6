"""Forward TCP connections: `python -m tests.bench.forwarder LISTEN_HOST:PORT TARGET_HOST:PORT`.

The API server listens on loopback only; a node and its pods live in another network namespace and
reach it through this program on an address of the namespace's veth pair.
"""

import asyncio
import contextlib
import sys


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    # A peer that vanishes is the normal end of a watch.
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError):
        writer.close()
        await writer.wait_closed()


async def serve(listen: str, target: str) -> None:
    target_host, target_port = target.rsplit(":", 1)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            onward_reader, onward_writer = await asyncio.open_connection(target_host, target_port)
        except OSError:
            # The API server is restarting: the client must see a closed connection, and retry.
            writer.close()
            return
        await asyncio.gather(_pipe(reader, onward_writer), _pipe(onward_reader, writer))

    host, port = listen.rsplit(":", 1)
    server = await asyncio.start_server(connected, host, int(port))
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(*sys.argv[1:]))
