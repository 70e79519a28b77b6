"""The program that an agent starts as its MCP server: joins its stdio to a socket of the parent.

Standard library only and no import of this package: `python -I -S bridge.py SOCKET HASH`. The secret comes in the
environment, and goes first over the socket. It ends when either side does. HASH is not read: agents that keep what a
server offered, by its command line, see by it that other tools are offered now.
"""

import _socket as socket  # the module over it takes longer to load than all the rest takes to start
import _thread
import os
import sys

SECRET_VARIABLE = "ACP_SUBAGENTS_TOOLS_SECRET"  # noqa: S105  # a name
CHUNK_BYTES = 65536


def _upstream(link: socket.socket, source: int) -> None:
    """From our stdin to the parent; then the parent learns that no more will come."""
    try:
        while data := os.read(source, CHUNK_BYTES):
            link.sendall(data)
        link.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # the parent is gone: the other direction sees it too


def _downstream(link: socket.socket, sink: int) -> None:
    """From the parent to our stdout, until either is closed."""
    try:
        while data := link.recv(CHUNK_BYTES):
            while data:
                data = data[os.write(sink, data) :]
    except OSError:
        pass  # whoever started us is gone


def main() -> None:
    """Join the two. Exits at once when the parent has closed, whatever stdin does."""
    link = socket.socket(socket.AF_UNIX)
    try:
        link.connect(sys.argv[1])
        link.sendall(os.environ.get(SECRET_VARIABLE, "").encode() + b"\n")
    except OSError as error:
        link.close()
        sys.stderr.write(f"the parent that offers these tools cannot be reached: {error.strerror}\n")
        raise SystemExit(1) from None
    _thread.start_new_thread(_upstream, (link, 0))
    _downstream(link, 1)
    os._exit(0)  # a read of stdin may never end


if __name__ == "__main__":
    main()
