"""Passed to `python -c`: reads the files of the worker from the channel and runs each job in a fork of this process.

PyTorch is imported once, because that takes long. A fork sees nothing of earlier forks. It has no channel, only an answer.
"""
import gc
import json
import os
import random
import resource
import select
import struct
import sys
import types

PACKAGE = "kw_foreign_worker"
CHANNEL, MOST_ANSWERED, MOST_SAID = 3, 256 << 20, 64 << 10


def receive():
    def exactly(count):
        data = bytearray()
        while len(data) < count:
            piece = os.read(CHANNEL, min(count - len(data), 1 << 20))
            if not piece:
                os._exit(0)  # kernelwright has closed the channel
            data += piece
        return data

    return json.loads(exactly(*struct.unpack("<I", exactly(4))))


def send(data):
    rest = memoryview(struct.pack("<I", len(data)) + data)
    while rest:
        rest = rest[os.write(CHANNEL, rest):]


def collect(answer, said):
    """The answer of a fork, up to the limit, and the end of its standard error."""
    texts, opened = {answer: bytearray(), said: bytearray()}, {answer, said}
    while opened:
        for descriptor in select.select(list(opened), [], [])[0]:
            piece, text = os.read(descriptor, 1 << 20), texts[descriptor]
            if not piece:
                opened.remove(descriptor)
                os.close(descriptor)
            elif descriptor == said:
                text += piece
                del text[:-MOST_SAID]
            elif len(text) < MOST_ANSWERED:
                text += piece
    return texts[answer], texts[said]


def copied():
    """In the fork: the stream for its answer. In the parent: None, after the fork ended and its outcome was sent."""
    answer, answer_to = os.pipe()
    said, say_to = os.pipe()
    number = os.fork()
    if number == 0:
        os.dup2(say_to, 1)  # the candidate's prints are not part of the answer
        os.dup2(say_to, 2)
        for descriptor in (CHANNEL, answer, said, say_to):
            os.close(descriptor)
        return answer_to
    os.close(answer_to)
    os.close(say_to)
    text, words = collect(answer, said)
    status = os.waitpid(number, 0)[1]
    ended = {"signal": os.WTERMSIG(status)} if os.WIFSIGNALED(status) else {"exit": os.WEXITSTATUS(status)}
    send(json.dumps(dict(ended, said=words.decode(errors="replace"))).encode() + b"\n" + text)
    return None


gc.disable()  # many objects are created and none freed meanwhile
package = types.ModuleType(PACKAGE)
package.__path__ = []
sys.modules[PACKAGE] = package
for name, text in receive().items():  # each file needs only those before it
    module = types.ModuleType(f"{PACKAGE}.{name}")
    sys.modules[module.__name__] = module
    setattr(package, name, module)
    exec(compile(text, f"<kernelwright {name}.py>", "exec"), module.__dict__)
gc.enable()
send(b"ready")
while True:
    job = receive()
    answer_to = copied()
    if answer_to is not None:
        break
random.seed()  # no two forks draw the same random numbers
if "numpy.random" in sys.modules:
    sys.modules["numpy.random"].seed()
if job["memory_limit"]:
    resource.setrlimit(resource.RLIMIT_AS, (job["memory_limit"], job["memory_limit"]))
getattr(package, job["worker"]).main(job, os.fdopen(answer_to, "w"))
