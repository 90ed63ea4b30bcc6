"""Frames on a socket: a length of four bytes, little endian, then JSON. A request may bring one descriptor."""
import array
import fcntl
import json
import os
import socket
import struct


def out_of_the_way(fd):
    """A copy with a high number: code that closes or reuses low descriptors must not affect ours."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 700)


class Channel:
    def __init__(self, fd):
        self.socket = socket.socket(fileno=out_of_the_way(fd))
        os.close(fd)
        self.fds = []

    def receive(self):
        """The next request and its descriptor (or None); ends this process when the parent has ended."""
        header = self._exactly(4)
        body = json.loads(self._exactly(struct.unpack("<I", header)[0]))
        fds, self.fds = self.fds, []
        arena = out_of_the_way(fds[0]) if fds else None
        for each in fds:
            os.close(each)
        return body, arena

    def send(self, reply):
        # surrogates: names and texts may hold any bytes; the reader needs UTF-8.
        body = json.dumps(reply, allow_nan=False).encode("utf-8", "replace")
        self.socket.sendall(struct.pack("<I", len(body)) + body)

    def _exactly(self, count):
        pieces, have = [], 0
        while have < count:
            try:
                piece, ancillary, _, _ = self.socket.recvmsg(min(count - have, 1 << 20), socket.CMSG_SPACE(64))
            except OSError:
                os._exit(0)
            for level, kind, data in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    fds = array.array("i")
                    fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
                    self.fds.extend(fds)
            if not piece:
                os._exit(0)
            pieces.append(piece)
            have += len(piece)
        return b"".join(pieces)
