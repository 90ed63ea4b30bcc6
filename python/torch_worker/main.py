"""The torch process: answers one request after another until its parent has ended."""
import faulthandler
import os
import platform
import resource
import sys

from kw_torch_worker import failures
from kw_torch_worker.channel import Channel, out_of_the_way


def hello(request, arena):
    try:
        import torch
    except Exception as error:
        raise failures.Failure("NoTorch", f"{sys.executable} cannot import torch: "
                                          f"{failures.message_of(error)}") from error
    # Counting devices makes no context; asking for their names would.
    devices = [f"cuda:{index}" for index in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    return {"python": platform.python_version(), "executable": sys.executable, "torch": torch.__version__,
            "cuda": torch.version.cuda, "devices": devices}


def lazily(module, function):
    def call(request, arena):
        import importlib
        return getattr(importlib.import_module(f"kw_torch_worker.{module}"), function)(request, arena)
    return call


VERBS = {
    "hello": hello,
    "run": lazily("calls", "run"),
    "describe": lazily("describing", "describe"),
    "export": lazily("exporting", "export"),
    "trace": lazily("tracing", "trace"),
    "baselines": lazily("timing", "baselines"),
}


def limit_memory(request):
    """Limits the address space for this request, so that allocating a terabyte fails at once. Not with CUDA, which
    reserves far more than it uses."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = hard
    if request.get("memory_bytes") and request.get("device", "cpu") == "cpu":
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        soft = used + request["memory_bytes"]
        if hard != resource.RLIM_INFINITY:
            soft = min(soft, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def unlimit_memory():
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def answer(request, arena):
    try:
        limit_memory(request)
        if request.get("verb") not in VERBS:
            raise failures.Failure("Unsupported", f"unknown request: {request.get('verb')!r}")
        reply = VERBS[request["verb"]](request, arena)
        reply["kind"] = "Ok"
    except BaseException as error:  # references may raise any exception, also SystemExit
        unlimit_memory()
        reply = failures.describe(error)
    unlimit_memory()
    reply["id"] = request.get("id")
    return reply


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # the reference closed or replaced it; its output is lost
            pass


def open_streams(kept):
    """Restores standard input, output and error after a reference changed them."""
    null = os.open(os.devnull, os.O_RDONLY)
    for target, source in ((0, null), (1, kept), (2, kept)):
        os.dup2(source, target)
    if null > 2:
        os.close(null)
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)


def serve(fd):
    kept = out_of_the_way(2)
    channel, pid = Channel(fd), os.getpid()
    faulthandler.enable(kept)
    while True:
        try:
            serve_one(channel, pid, kept)
        except OSError:  # the reference closed our channel; exiting at once skips torch's slow shutdown
            os._exit(1)


def serve_one(channel, pid, kept):
    open_streams(kept)
    request, arena = channel.receive()
    # Output after this line belongs to this request.
    os.write(2, f"\n{request.get('marker', '')}\n".encode())
    reply = answer(request, arena)
    flush()
    if os.getpid() != pid:  # the reference forked, and this is the child
        os._exit(0)
    if arena is not None:
        os.close(arena)
    try:
        channel.send(reply)
    except (ValueError, TypeError) as error:  # JSON cannot express a value in it; nothing was sent yet
        channel.send({"id": reply["id"], "kind": "Unsupported", "message": failures.message_of(error)})
