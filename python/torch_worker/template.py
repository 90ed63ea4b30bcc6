"""Serves each reference in a fork of a process that has imported torch and runs nothing of the user's.

Importing torch takes seconds, and a reference may change torch, builtins or modules. So a clean process, the template,
imports torch once, forks for each reference, and passes frames between kernelwright and that fork. "end" ends the fork.
The process that kernelwright started only waits for the template and ends as it does: Linux ends that process with
kernelwright; the template then finds its channel closed and ends all others.
"""
import ctypes
import fcntl
import json
import os
import random
import select
import shutil
import signal
import socket
import struct
import sys
import time

from kw_torch_worker import main, no_children
from kw_torch_worker.channel import Channel, send_first

PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36
WALL = 0x40000000  # __WALL: also children that clone() made
LONGEST_END = 200  # bytes of a request that may be an "end"
PATIENCE = 3  # seconds until a process that closed its channel has ended


def end_like(status):
    """Ends this process as the other one ended."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


def prctl(option, value):
    return ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0


def end_all():
    os.kill(0, signal.SIGKILL)


def import_torch():
    try:
        from kw_torch_worker import calls, describing, exporting  # noqa: F401
    except BaseException:  # each fork tries again and tells why
        pass


def emptied(folder):
    """Whether nothing is left in the only folder that references can write."""
    try:
        for entry in os.scandir(folder):
            shutil.rmtree(entry.path) if entry.is_dir(follow_symlinks=False) else os.unlink(entry.path)
    except (OSError, RecursionError):
        return False
    return True


class Fork:
    """The process of one reference, and the socket to it."""

    def __init__(self, channel):
        for fd in range(3):  # an earlier fork may have changed whether they block
            fcntl.fcntl(fd, fcntl.F_SETFL, 0)
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.number = os.fork()
        if self.number == 0:
            channel.socket.close()
            self.socket.close()
            prctl(PR_SET_DUMPABLE, 1)
            random.seed()  # no two forks draw the same random numbers
            if "numpy.random" in sys.modules:
                sys.modules["numpy.random"].seed()
            no_children.enter()
            main.serve(theirs.detach())
        theirs.close()

    def end(self):
        """Whether no process of the reference is left: its orphans became children of this process."""
        self.socket.close()
        try:
            os.kill(self.number, signal.SIGKILL)
        except PermissionError:  # an older Landlock: signals only to itself. A fork ends with its channel
            return self.has_ended(PATIENCE) and self.has_no_orphans()
        os.waitpid(self.number, 0)
        return self.has_no_orphans()

    def has_ended(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if os.waitpid(self.number, os.WNOHANG)[0]:
                return True
            time.sleep(0.002)
        return False

    @staticmethod
    def has_no_orphans():
        try:
            while os.waitpid(-1, os.WNOHANG | WALL)[0] != 0:
                pass
        except ChildProcessError:
            return True
        return False

    def take_after(self):
        """It closed its socket: this process ends as it does, if it does."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            number, status = os.waitpid(self.number, os.WNOHANG)
            if number:
                end_like(status)
            time.sleep(0.002)


class Template:
    def __init__(self, fd):
        self.channel, self.fork = Channel(fd, end_all), None
        self.knows_orphans = prctl(PR_SET_CHILD_SUBREAPER, 1)

    def serve(self):
        while True:
            body, fds = self.channel.receive_raw()
            request = json.loads(body) if len(body) <= LONGEST_END else {}
            if request.get("verb") == "end":
                self.end(request)
            else:
                self.pass_on(body, fds)
            for fd in fds:
                os.close(fd)

    def end(self, request):
        clean = self.knows_orphans and (self.fork is None or self.fork.end()) and emptied(os.environ["TMPDIR"])
        self.fork = None
        self.channel.send({"id": request["id"], "kind": "Ok" if clean else "Failed",
                           "message": "" if clean else "processes or files of the reference are left"})

    def pass_on(self, body, fds):
        if self.fork is None:
            try:
                self.fork = Fork(self.channel)
            except OSError as error:
                return self.channel.send({"id": json.loads(body).get("id"), "kind": "Failed",
                                          "message": f"no process for the reference could be started: {error}"})
        try:
            rest = memoryview(struct.pack("<I", len(body)) + body)
            while rest:
                self.wait(select.POLLOUT)
                sent = send_first(self.fork.socket, rest, fds if len(rest) == len(body) + 4 else [])
                rest = rest[sent:]
            self.pass_back()
        except OSError:
            self.fork.take_after()
            self.channel.socket.close()  # it lives and does not answer: kernelwright ends all of this
            signal.pause()

    def wait(self, event):
        """Until the fork's socket is ready. If kernelwright ends meanwhile, so does all of this."""
        poll, ours = select.poll(), self.channel.socket.fileno()
        poll.register(ours, select.POLLRDHUP)
        poll.register(self.fork.socket.fileno(), event)
        if any(ready == ours for ready, _ in poll.poll()):
            end_all()

    def pass_back(self):
        """One frame, piece by piece: its length is the word of a process that we do not trust."""
        header = b""
        while len(header) < 4:
            header += self.piece(4 - len(header))
        left = struct.unpack("<I", header)[0]
        self.channel.socket.sendall(header)
        while left:
            data = self.piece(left)
            self.channel.socket.sendall(data)
            left -= len(data)

    def piece(self, most):
        self.wait(select.POLLIN)
        data = self.fork.socket.recv(min(most, 1 << 20))
        if not data:
            raise OSError("the fork closed its socket")
        return data


def serve(fd):
    prctl(PR_SET_DUMPABLE, 0)  # references cannot reach the memory of these two processes
    number = os.fork()
    if number:
        os.close(fd)
        end_like(os.waitpid(number, 0)[1])
    template = Template(fd)
    import_torch()
    template.serve()
