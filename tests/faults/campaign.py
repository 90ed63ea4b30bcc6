"""Faults of the machine in the real program, one seeded fault for each run, and what must hold after every one of them.

    campaign.py KERNELWRIGHT SHIM [--seed S] [--first N] [--count N] [--jobs N] [--cheap] [--results FILE] [--only N]
    campaign.py --table FILE

With --results, every fault is a line of JSON and a campaign goes on where its file ends. --table counts the lines of such a file.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cli"))
sys.path.insert(0, HERE)
from harness import Harness  # noqa: E402
from jobs import Jobs, judged, verdicts  # noqa: E402
from kinds import KNOWN, Fault, draw  # noqa: E402
from processes import marked  # noqa: E402

OURS = {0, 1, 2, 3, 130, 143}
BROKEN = re.compile(r"terminate called|std::|bad_alloc|Sanitizer|bug in kernelwright|Bug:", re.I)
MARK = "KW_FAULT_MARK_"
HANG = int(os.environ.get('KW_FAULT_HANG', '200'))  # seconds after which a job hangs


class Campaign:
    def __init__(self, binary, shim, seed, cheap):
        self.h = Harness(binary)
        self.h.environment.update(KERNELWRIGHT_LIBCUDA="/nowhere/libcuda.so.1", HOME=self.h.path("home"), KW_OFFLINE="1")
        for name in [name for name in self.h.environment if name.endswith("_API_KEY") or "proxy" in name.lower()]:
            del self.h.environment[name]
        os.mkdir(self.h.path("home"))
        self.shim, self.seed, self.cheap = os.path.abspath(shim), seed, cheap
        self.jobs = Jobs(self.h)
        self.counts, self.usual = {}, {}
        self.lock = threading.Lock()
        for job in self.jobs.all:
            if not (cheap and job.slow):
                self.measure(job)

    def measure(self, job):
        """The job without a fault, twice: the first time compiles."""
        for number in (0, 1):
            folder = self.h.path("usual-%s-%d" % (job.name, number))
            os.mkdir(folder)
            count = os.path.join(folder, "count")
            done = self.h.run(*job.begin(folder), env={"LD_PRELOAD": self.shim, "KW_FAULT_COUNT": count})
            if done.returncode != job.expected:
                sys.exit("%s without a fault ends with %d:\n%s%s" % (job.name, done.returncode, done.stdout, done.stderr))
            with open(count) as file:
                self.counts[job.name] = {name: int(number) for name, number in map(str.split, file)}
            self.usual[job.name] = set(verdicts(folder).values())

    def job(self, name):
        return next(job for job in self.jobs.all if job.name == name)

    def run(self, words, fault, folder, environment):
        """One process with a fault (or none); its code, what it said, whether the fault happened."""
        log = os.path.join(folder, "fault-log")
        env = dict(self.h.environment, TMPDIR=os.path.join(folder, "tmp"), **environment)
        env.update(fault.environment(self.shim, log) if fault else {})
        out = open(os.path.join(folder, "out"), "w+b")
        process = subprocess.Popen([self.h.binary, *words], env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.PIPE, preexec_fn=fault.before if fault else None)
        try:
            said = process.communicate(timeout=HANG)[1]
            code = process.returncode
        except subprocess.TimeoutExpired:
            for pid in [process.pid, *marked(next(name for name in environment if name.startswith(MARK)))]:
                os.kill(pid, signal.SIGKILL)
            said, code = process.communicate()[1], "hang"
        out.seek(0)
        text = (out.read() + b"\n" + said).decode("utf-8", "replace")
        out.close()
        return code, text, fault is not None and (fault.at is None or os.path.exists(log))

    def one(self, index):
        names = sorted(self.counts) + ["verify", "verify-wrong"] * self.cheap
        job = self.job(names[index % len(names)])
        return self.strike(index, job, draw(self.seed, index, self.counts[job.name]))

    def strike(self, index, job, fault):
        folder = self.h.path("fault-%d" % index)
        os.makedirs(os.path.join(folder, "tmp"))
        os.mkdir(os.path.join(folder, "out-root"))
        mark = MARK + "%d_%d_" % (os.getpid(), index)
        cold = {"KERNELWRIGHT_CACHE": os.path.join(folder, "cache")} if index % 11 == 10 else {}
        environment = {mark: "1", "KERNELWRIGHT_RUNS": os.path.join(folder, "out-root"), **cold}
        root = os.path.join(folder, "out-root")
        wrong = []
        began = time.monotonic()
        code, text, happened = self.run(job.begin(root), fault, folder, environment)
        self.look(job, fault, code, text, mark, wrong)
        before = {**verdicts(root), **judged(root)}
        if job.go_on:
            self.go_on(job, folder, root, environment, before, wrong)
        row = {"index": index, "job": job.name, "fault": fault.words, "kind": fault.kind, "happened": happened, "code": code,
               "cold": bool(cold), "seconds": round(time.monotonic() - began, 1), "wrong": wrong,
               "text": "" if code == job.expected else text[-1500:]}
        if not wrong:
            shutil.rmtree(folder, ignore_errors=True)
        return row

    def look(self, job, fault, code, text, mark, wrong):
        """What must hold when the struck program has ended."""
        if code == "hang":
            wrong.append("it hangs")
        elif code in fault.kills() or (fault.kind == "around-stdout" and code in (-13, 141)):
            pass
        elif code not in OURS:
            wrong.append("exit code %s" % code)
        elif code == 1 != job.expected and not (job.name == "eval" and "external_error" in text):
            wrong.append("a fault of the machine is told as a verdict")
        elif code == 0 != job.expected:
            wrong.append("a wrong kernel passes")
        elif code == 2 and fault.kind != "stat":  # what cannot be looked at may be the user's mistake
            wrong.append("a fault of the machine is told as bad input")
        elif code != job.expected and fault.harmless():
            wrong.append("a call that succeeds in part, or is interrupted, is taken for a failure")
        if code in (2, 3) and len(text.strip()) < 20 and fault.kind != "around-stdout":
            wrong.append("no message")
        if BROKEN.search(text):
            wrong.append("says " + BROKEN.search(text).group())
        until = time.monotonic() + 5  # what is killed with its parent needs a moment
        while marked(mark) and time.monotonic() < until:
            time.sleep(0.02)
        left = marked(mark)
        if left:
            wrong.append("leaves processes: %s" % left)
            for pid in left:
                os.kill(pid, 9)

    def go_on(self, job, folder, root, environment, before, wrong):
        """The next start tidies up; the job goes on to its end; nothing judged is lost."""
        code, text, _ = self.run(["runs", "--json"], None, folder, environment)
        if code != 0:
            wrong.append("runs cannot be listed: %s %s" % (code, text[-300:]))
        words = job.go_on(root) or job.begin(root)
        code, text, _ = self.run(words, None, folder, environment)
        if code != job.expected:
            wrong.append("does not go on: %s: %s %s" % (words[0], code, text[-600:]))
        after = {**verdicts(root), **judged(root)}
        lost = {str(key): value for key, value in before.items() if value != "torn" and after.get(key) != value}
        if lost:
            wrong.append("lost: %s" % lost)
        strange = {value for value in after.values()} - self.usual[job.name]
        if strange:
            wrong.append("judged %s without a reason" % sorted(strange))
        for path in glob.glob(os.path.join(root, "**", "*"), recursive=True):
            if ".tmp-" in path:
                wrong.append("leaves " + os.path.relpath(path, root))
            if os.path.basename(path) == "kernel.cu" and os.path.getsize(path) == 0:
                wrong.append("an empty kernel")
        left = os.listdir(os.path.join(folder, "tmp"))
        if left:
            wrong.append("temporary folders stay: %s" % left)


def table(path):
    """Counts of a campaign, by kind of fault."""
    with open(path) as file:
        rows = [json.loads(line) for line in file]
    print("%d faults, %d of them happened, %d broke a promise" % (len(rows), sum(row["happened"] for row in rows),
                                                                  sum(bool(row["wrong"]) for row in rows)))
    by = collections.defaultdict(collections.Counter)
    for row in rows:
        by[row["kind"]].update({"faults": 1, "happened": row["happened"], "wrong": bool(row["wrong"]), "code %s" % row["code"]: 1})
    print("| kind | faults | happened | broke a promise | exit codes |\n|---|---|---|---|---|")
    for kind, one in sorted(by.items()):
        codes = ", ".join("%s: %d" % (name[5:], number) for name, number in sorted(one.items()) if name.startswith("code"))
        print("| %s | %d | %d | %d | %s |" % (kind, one["faults"], one["happened"], one["wrong"], codes))


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("binary", nargs="?")
    words.add_argument("shim", nargs="?")
    words.add_argument("--seed", default="1")
    words.add_argument("--first", type=int, default=0)
    words.add_argument("--count", type=int, default=500)
    words.add_argument("--jobs", type=int, default=2)
    words.add_argument("--cheap", action="store_true", help="without the jobs that take longest")
    words.add_argument("--known", action="store_true", help="the faults that broke a promise once")
    words.add_argument("--results")
    words.add_argument("--only", type=int)
    words.add_argument("--table")
    given = words.parse_args()
    if given.table:
        return table(given.table)
    done = set()
    if given.results and os.path.exists(given.results):
        with open(given.results) as file:
            done = {json.loads(line)["index"] for line in file}
    campaign = Campaign(given.binary, given.shim, given.seed, given.cheap)
    if given.known:
        campaign.one = lambda index: campaign.strike(index, campaign.job(KNOWN[index][0]), Fault(*KNOWN[index][1:]))
        given.first, given.count = 0, len(KNOWN)
    indices = [given.only] if given.only is not None else range(given.first, given.first + given.count)
    bad, happened, total = 0, 0, 0
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for ended in concurrent.futures.as_completed([pool.submit(campaign.one, index) for index in indices if index not in done]):
            row = ended.result()
            total += 1
            happened += row["happened"]
            bad += bool(row["wrong"])
            if given.results:
                with open(given.results, "a") as file:
                    file.write(json.dumps(row) + "\n")
            if row["wrong"] or given.only is not None:
                print("FAILED %(index)d %(job)s, %(fault)s: code %(code)s\n  %(wrong)s\n  %(text)s" % row, flush=True)
    campaign.jobs.close()
    print("%d faults, %d happened, %d broke a promise" % (total, happened, bad))
    if not bad:
        shutil.rmtree(campaign.h.folder, ignore_errors=True)
    sys.exit(1 if bad else 0)


main()
