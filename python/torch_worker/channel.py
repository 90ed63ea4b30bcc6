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


def leave():
    os._exit(0)


class Channel:
    """`gone` is called when the parent has ended."""

    def __init__(self, fd, gone=leave):
        self.socket = socket.socket(fileno=out_of_the_way(fd))
        os.close(fd)
        self.fds, self.gone = [], gone

    def receive(self):
        """The next request and its descriptor (or None)."""
        body, fds = self.receive_raw()
        arena = out_of_the_way(fds[0]) if fds else None
        for each in fds:
            os.close(each)
        return json.loads(body), arena

    def receive_raw(self):
        """The next request as bytes, and its descriptors."""
        header = self._exactly(4)
        body = self._exactly(struct.unpack("<I", header)[0])
        fds, self.fds = self.fds, []
        return body, fds

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
                self.gone()
            for level, kind, data in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    fds = array.array("i")
                    fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
                    self.fds.extend(fds)
            if not piece:
                self.gone()
            pieces.append(piece)
            have += len(piece)
        return b"".join(pieces)


def send_first(to, data, fds):
    """Sends some of the data without waiting, with the descriptors; returns how much."""
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    try:
        return to.sendmsg([data[: 1 << 16]], rights, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return 0
