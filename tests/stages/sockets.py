"""Which sockets synthesize opens, and what its helpers are told.

    sockets.py KERNELWRIGHT SOCKET_LOG.so
"""
import os
import stat
import sys

from common import KEY, RIGHT, ModelServer, Talks, fenced

jobs = Talks(sys.argv[1])
check = jobs.check
LOG = {"LD_PRELOAD": os.path.abspath(sys.argv[2]), "KW_SOCKET_LOG": jobs.path("sockets")}


def sockets():
    lines = set(jobs.read(jobs.folder, "sockets").splitlines())
    if os.path.exists(jobs.path("sockets")):
        os.unlink(jobs.path("sockets"))
    return lines


done = jobs.synthesize(jobs.reference, "--candidates", "1", env=LOG)
check(done.returncode == 0, "the built-in proposer ships", done)
check(sockets() == set(), "and opens no socket but those between its own processes")

with ModelServer(steps=[{"text": fenced(RIGHT)}], key=KEY) as server:
    done = jobs.synthesize(jobs.reference, "--proposer", "llm", "--retries", "performance=0", "--retries", "polish=0",
                           env={**LOG, **jobs.serve(server), "ANTHROPIC_API_KEY": KEY})
    check(done.returncode == 0, "a model ships", done)
    seen = sockets()
    check(seen == {f"127.0.0.1 {server.server_address[1]}"}, "and only its provider is connected to: %s" % seen)

# A python that writes down its environment stands in for every python helper.
spy = jobs.write("python3", "#!/bin/sh\nenv >> '%s'\nexec %s \"$@\"\n" % (jobs.path("seen"), sys.executable))
os.chmod(spy, os.stat(spy).st_mode | stat.S_IXUSR)
with ModelServer(steps=[{"text": fenced(RIGHT)}], key=KEY) as server:
    env = {**jobs.serve(server), "ANTHROPIC_API_KEY": KEY, "PATH": jobs.folder + ":" + os.environ["PATH"]}
    done = jobs.synthesize(jobs.reference, "--proposer", "llm", "--retries", "performance=0", "--retries", "polish=0", env=env)
seen = jobs.read(jobs.folder, "seen")
check(done.returncode == 0 and "PATH=" in seen, "the helper was started", done)
check(KEY not in seen, "no helper is given a key")

jobs.finish()
