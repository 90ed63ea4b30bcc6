"""What --help prints is golden: KW_UPDATE_GOLDEN=1 rewrites tests/cli/golden, the diff is the review."""
import os
import sys

from harness import Harness

h = Harness(sys.argv[1])
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
for name in ("main", "synthesize", "evolve", "tune-verifiers", "resume", "tune", "run", "check", "import", "verify", "bench", "compare", "optimize", "calibrate", "eval", "screen", "profile", "roofline", "sass", "catalog", "lint", "describe", "mcp", "runs", "inspect", "diff", "gc", "demo", "doctor", "version"):
    words = ["help"] if name == "main" else ["help", name]
    done = h.run(*words)
    h.check(done.returncode == 0 and done.stderr == "", "help " + name, done)
    path = os.path.join(GOLDEN, "help_%s.txt" % name)
    if os.environ.get("KW_UPDATE_GOLDEN"):
        with open(path, "w") as file:
            file.write(done.stdout)
    with open(path) as file:
        h.check(done.stdout == file.read(), "help of %s differs from %s" % (name, path), done)
    if name != "main":
        h.check(h.run(name, "--help").stdout == done.stdout, name + " --help says the same")
        h.check(h.run(name, "-h").stdout == done.stdout, name + " -h says the same")
h.check(h.run("--help").stdout == h.run("help").stdout, "--help says the same")
h.check(h.run("--version").stdout == h.run("version").stdout, "--version says the same")
h.check("\033" not in h.run("help").stdout, "no colour in a pipe")
h.finish()
