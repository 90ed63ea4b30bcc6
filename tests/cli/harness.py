"""Runs the real binary and compares what it says. Standard library only."""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def shared_cache(binary):
    """One cache for all tests of this very binary, beside it: what one of them has compiled the others need not. None where
    the folder is read-only; another binary gets another folder."""
    state = os.stat(binary)
    root = os.path.join(os.path.dirname(os.path.realpath(binary)), "test-cache")
    name = "%x-%x" % (state.st_size, state.st_mtime_ns)
    try:
        for old in os.listdir(root) if os.path.isdir(root) else []:
            if old != name:
                shutil.rmtree(os.path.join(root, old), ignore_errors=True)
        os.makedirs(os.path.join(root, name), exist_ok=True)
    except OSError:
        return None
    return os.path.join(root, name)


class Harness:
    def __init__(self, binary, own_cache=False):
        self.binary = os.path.abspath(binary)
        self.folder = tempfile.mkdtemp(prefix="kw_cli_")
        cache = None if own_cache else shared_cache(self.binary)
        self.environment = dict(os.environ, KERNELWRIGHT_CACHE=cache or os.path.join(self.folder, "cache"))
        self.environment.pop("NO_COLOR", None)
        self.failures = []
        self.count = 0
        self.found_compiler = None

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())
        return path

    def run(self, *words, env=None, timeout=300):
        environment = dict(self.environment, **(env or {}))
        return subprocess.run([self.binary, *words], env=environment, cwd=self.folder, timeout=timeout,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")

    def check(self, condition, what, done=None):
        self.count += 1
        if condition:
            return
        detail = "" if done is None else "\n  exit %s\n  out: %s\n  err: %s" % (
            done.returncode, done.stdout[-1500:], done.stderr[-1500:])
        self.failures.append(what + detail)

    def expect(self, name, words, code, pattern, env=None):
        """The command exits with `code`, and `pattern` matches standard error (standard output when code is 0)."""
        done = self.run(*words, env=env)
        self.check(done.returncode == code, "%s: expected exit %d" % (name, code), done)
        text = done.stdout if code == 0 else done.stderr
        self.check(re.search(pattern, text, re.S) is not None, "%s: expected /%s/" % (name, pattern), done)
        return done

    def compiler(self):
        """The best compiler here, as --compiler names it; skips the test when there is none."""
        for name in ("nvrtc", "clang", "nvcc"):
            if self.found_compiler is None and self.run("doctor", "--has", name).returncode == 0:
                self.found_compiler = name
        return self.found_compiler or skip("no compiler for device code (NVRTC, clang 19 or nvcc)")

    def finish(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        for failure in self.failures:
            print("FAILED " + failure)
        print("%d checks, %d failed" % (self.count, len(self.failures)))
        sys.exit(1 if self.failures else 0)


def npy(descr, shape, data, order=False):
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, order, tuple(shape))
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data
