"""Runs that were cut: kill -9 and Ctrl-C in the middle, then resume; nothing judged is judged again."""
import os
import re
import signal
import subprocess
import sys
import time

from common import Jobs, RMS_NORM, passed

h = Jobs(sys.argv[1])
REFERENCE = h.write("rms_norm.py", open(RMS_NORM).read())


def start(*words):
    known = set(h.runs())
    process = subprocess.Popen([h.binary, "synthesize", "--reference", REFERENCE, *h.words, *words], env=h.environment,
                               cwd=h.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.time() + 600
    while time.time() < deadline and process.poll() is None:
        fresh = [folder for folder in h.runs() if folder not in known]
        if fresh and len(h.added_so_far(fresh[0])) >= 3:
            return process, fresh[0]
        time.sleep(0.02)
    h.check(False, "a run was made with three candidates")
    process.kill()
    return process, None


def added_so_far(folder):
    try:
        return h.added(folder)
    except (OSError, ValueError):
        return []


h.added_so_far = added_so_far


def after_kill():
    process, folder = start("--candidates", "30", "--seed", "11")
    if folder is None:
        return
    process.kill()
    process.communicate()
    before = h.added(folder)
    h.check(not os.path.exists(os.path.join(folder, "report.json")), "a killed run has no report yet")
    done = h.run("resume", os.path.basename(folder), "--candidates", "10")
    h.check(done.returncode == 0 and passed("rms_norm", done.stdout), "resume finishes what was killed", done)
    after = h.added(folder)
    h.check(after[:len(before)] == before and len(set(after)) == len(after), "nothing is tried twice")
    report = h.report(folder)
    h.check(report["passed"] and report["search"]["tried"] >= 10, "the report covers both sessions")
    again = h.run("resume", "latest", "--candidates", "10")
    h.check(again.returncode == 0 and h.added(folder) == after, "a finished run can be resumed; nothing new is tried", again)


def after_interrupt():
    process, folder = start("--candidates", "100")
    if folder is None:
        return
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    h.check(process.returncode == 130, "Ctrl-C: exit 130, not %s" % process.returncode)
    h.check("kernelwright resume " + folder in out + err, "it says how to go on: %s" % (out + err)[-800:])
    done = h.run("resume", folder, "--candidates", "5")
    h.check(done.returncode == 0 and "PASSED" in done.stdout, "an interrupted run is resumed", done)


def two_at_once():
    process, folder = start("--candidates", "200")
    if folder is None:
        return
    h.expect("two in one folder", ["resume", folder], 2, r"\b%d\b" % process.pid)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def changed_reference():
    folder = h.newest()
    h.write("rms_norm.py", open(RMS_NORM).read().replace("1e-5", "1e-6"))
    done = h.expect("a changed reference", ["resume", folder], 2, r"changed since this run started")
    h.check(re.search(r"^-.*1e-5.*^\+.*1e-6", done.stderr, re.S | re.M) is not None, "the difference is shown", done)
    os.remove(REFERENCE)
    done = h.run("resume", folder, "--candidates", "5")
    h.check(done.returncode == 0 and "own copy" in done.stdout, "without the file the run's copy serves", done)


def task_folder():
    os.makedirs(h.path("task"))
    reference = 'def double(x):\n    return x * 2\n'
    toml = 'name = "double"\nreference = "model.py"\n[inputs]\nx = "fp32[N]"\n' \
           '[shapes]\ncorrectness = [{ N = 100 }]\nbenchmark = [{ N = 100000 }]\n'
    h.write("task/model.py", reference)
    h.write("task/task.toml", toml)
    done = h.synthesize(h.path("task"), "--candidates", "2")
    h.check(done.returncode == 0 and passed("double", done.stdout), "a task folder", done)
    folder = h.newest()
    with open(os.path.join(folder, "inputs", "reference.py")) as file:
        h.check(file.read() == reference, "the reference is kept, whatever it is called")
    h.check(h.run("resume", folder).returncode == 0, "an unchanged folder is resumed")
    h.write("task/task.toml", toml.replace("100000", "200000"))
    done = h.expect("a changed task", ["resume", folder], 2, r"the task changed since this run started")
    h.check("200000" in done.stderr, "what changed in the task is shown", done)
    h.write("task/model.py", reference.replace("2", "3"))
    h.expect("a changed folder", ["resume", folder], 2, r"-    return x \* 2.*\+    return x \* 3")


def refusals():
    folder = h.newest()
    h.expect("tune needs a GPU", ["tune", folder], 3, r"tune needs a GPU")
    h.expect("no such run", ["resume", "19990101"], 2, r"19990101")
    with open(os.path.join(folder, "inputs", "config.json"), "w") as file:
        file.write("{")
    h.expect("a corrupt folder", ["resume", folder], 2, r"config\.json|damaged")


after_kill()
after_interrupt()
two_at_once()
changed_reference()
refusals()
task_folder()
h.finish()
