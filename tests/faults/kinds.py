"""The faults there are: which calls of the program can fail, and how; what can be wrong around it."""
import os
import random
import resource

FULL = ["ENOSPC", "EIO", "EDQUOT"]
# A family of calls (fault_shim.cpp) and the ways in which one of them, or that one and all later ones, can fail.
FAMILIES = {
    "open": ["EIO", "EMFILE", "ENFILE", "EACCES", "ENOMEM", "EINTR"],
    "read": ["short", "EIO", "EINTR"],
    "write": ["short", "torn", "kill", "EINTR", *FULL],
    "receive": ["short", "EINTR", "EIO", "kill", "kill-child", "stop-child"],
    "send": ["short", "EINTR", "EPIPE", "kill-child"],
    "sync": ["EIO", "ENOSPC"],
    "rename": ["kill", "EACCES", "EROFS", *FULL],
    "mkdir": ["kill", "EACCES", "EROFS", *FULL],
    "unlink": ["EIO", "EACCES", "EBUSY"],
    "fork": ["EAGAIN", "ENOMEM", "kill-child", "stop-child"],
    "pipe": ["EMFILE", "ENFILE"],
    "thread": ["EAGAIN"],
    "map": ["ENOMEM"],
    "memory": ["ENOMEM"],
    "lock": ["EIO", "ENOLCK", "EAGAIN"],
    "stat": ["EIO", "EACCES", "ENOMEM"],
    "connect": ["ECONNREFUSED", "ETIMEDOUT"],
    "clock": ["forward", "backward", "TERM", "INT"],
    "entropy": ["EIO"],
}
LASTING = {*FULL, "EIO", "EROFS", "EACCES", "EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "ECONNREFUSED"}  # a machine may stay so
ENDS = {"kill": {-9}, "torn": {-9}, "TERM": {143, 130, -15}, "INT": {130, -2}}
# What is around the program: a word, and the settings it may have.
AROUND = {
    "descriptors": [6, 8, 10, 12, 14, 16, 20, 24, 32],
    "file-size": [0, 100, 1000, 4096, 20000, 200000],
    "memory": [60 << 20, 100 << 20, 200 << 20, 400 << 20],
    "home": ["/dev/null", "/proc", "/nowhere/at/all"],
    "cache": ["/dev/null/cache", "/proc/cache"],
    "temporary": ["/dev/null", "/proc", "/nowhere"],
    "stdout": ["closed", "full", "broken"],
    "runs": ["/proc/runs", "/dev/null/runs"],
}


# Faults that broke a promise once: job, kind, how, at, whether it stays.
KNOWN = [
    ("verify", "thread", "EAGAIN", 3, False),  # exit 70
    ("models", "thread", "EAGAIN", 3, True),  # terminate: threads destroyed while they ran
    ("synthesize", "memory", "ENOMEM", 79, True),  # terminate: a destructor threw
    ("verify", "receive", "EIO", 5, False),  # half of what python3 wrote was taken for bad input
    ("models", "around-file-size", 4096, None, False),  # "No such file" instead of "File too large", exit 2
    ("synthesize", "open", "ENFILE", 193, True),  # terminate: the summary for the index, when no file can be opened
    ("verify", "around-memory", 60 << 20, None, False),  # exit 70
]


class Fault:
    """One fault: of a call, or around the program. `words` names it for people."""

    def __init__(self, kind, how, at=None, lasting=False):
        self.kind, self.how, self.at, self.lasting = kind, how, at, lasting
        self.words = "%s %s%s" % (kind, how, "" if at is None else " at call %d%s" % (at, " and later" if lasting else ""))

    def environment(self, shim, log):
        if self.at is None:
            names = {"home": "HOME", "cache": "KERNELWRIGHT_CACHE", "temporary": "TMPDIR", "runs": "KERNELWRIGHT_RUNS"}
            found = {names[self.kind[7:]]: self.how} if self.kind[7:] in names else {}
            return dict(found, KERNELWRIGHT_CACHE="") if self.kind == "around-home" else found
        return {"LD_PRELOAD": shim, "KW_FAULT_FAMILY": self.kind, "KW_FAULT_HOW": self.how, "KW_FAULT_AT": str(self.at),
                "KW_FAULT_LAST": str(int(self.lasting)), "KW_FAULT_LOG": log}

    def before(self):
        """Called in the child before the program starts."""
        limits = {"around-descriptors": resource.RLIMIT_NOFILE, "around-file-size": resource.RLIMIT_FSIZE,
                  "around-memory": resource.RLIMIT_AS}
        if self.kind in limits:
            resource.setrlimit(limits[self.kind], (self.how, self.how))
        if self.kind == "around-stdout":
            if self.how == "closed":
                os.close(1)
            elif self.how == "full":
                os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
            else:
                reader, writer = os.pipe()
                os.dup2(writer, 1)
                os.close(reader)

    def kills(self):
        return ENDS.get(self.how, set()) if self.at is not None else set()

    def harmless(self):
        """Whether the program must end as if nothing had happened."""
        return self.how in ("short", "EINTR") and self.kind in ("read", "write")


def draw(seed, index, counts):
    """The fault number `index`; `counts` says how many calls of each family the job makes."""
    dice = random.Random("%s/%s" % (seed, index))
    if dice.random() < 0.12:
        kind = dice.choice(sorted(AROUND))
        return Fault("around-" + kind, dice.choice(AROUND[kind]))
    kind = dice.choice(sorted(name for name in FAMILIES if counts.get(name)))
    how = dice.choice(FAMILIES[kind])
    lasting = how in LASTING and dice.random() < 0.4
    return Fault(kind, how, dice.randrange(counts[kind]), lasting)
