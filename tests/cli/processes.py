"""Processes a test has started, found by a mark in their environment; what they have done so far is counted, not timed."""
import os
import time

PATIENCE = 300


def marked(mark):
    """Processes that carry `mark` in their environment: the program's own and its children."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % pid, "rb") as file:
                if mark.encode() in file.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def used(pid):
    """Seconds of processor time a process has used; 0 when it is gone."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0


def at_work(mark, besides=(), seconds=0.3):
    """Waits until a process with this mark has computed that long, or all have ended; those that are there then."""
    end, others, seen = time.time() + PATIENCE, set(), False
    while time.time() < end and not any(used(pid) >= seconds for pid in others):
        time.sleep(0.02)
        others = set(marked(mark)) - set(besides)
        if seen and not others:
            break
        seen = seen or bool(others)
    return others


def gone(mark, allowed=()):
    """Whether no process with this mark is left but those allowed."""
    end = time.time() + PATIENCE
    while set(marked(mark)) - set(allowed):
        if time.time() > end:
            return False
        time.sleep(0.02)
    return True
