"""Every process that runs text we did not write is started by src/base/sandbox. Direct starts are listed here, each with its reason."""
import os
import re
import sys

src = sys.argv[1]
DIRECT = {
    "apps/clib/own_workers.cpp": "asks our own program for its version",
    "apps/mcp/run_command.cpp": "runs one of our own commands",
    "judge/evidence/run_ncu.cpp": "the profiler attaches to our own program, whose worker runs the kernels; counters need its privileges",
    "judge/verification/verify_sanitizer.cpp": "the checker attaches to our own program and its worker, and needs sockets and privileges",
    "read/frontend/syntax.cpp": "asks which interpreter a program such as pyenv's starts; runs no text of others",
    "run/compile/search.cpp": "asks programs for their versions, and python3 for its folders",
    "run/machine/probes.cpp": "doctor asks programs for their versions",
    "run/torch_worker/torch_confinement.cpp": "asks the interpreter for its folders",
    "run/torch_worker/torch_python.cpp": "asks the interpreter whether it has torch",
    "search/llm/command_provider.cpp": "the user's own program, which gets the user's environment",
}
START = re.compile(r"os::run_process\(|os::Child::start\(")
found = {}
for folder, _, names in os.walk(src):
    for name in names:
        path = os.path.relpath(os.path.join(folder, name), src)
        if not name.endswith((".cpp", ".h")) or name.endswith("_test.cpp") or path.startswith(("base/os/", "base/sandbox/")):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            starts = len(START.findall(file.read()))
        if starts:
            found[path] = starts
failures = ["%s starts a process directly: use sandbox::run() or sandbox::start(), or give the reason in tests/house/starts.py" % path
            for path in sorted(found.keys() - DIRECT.keys())]
failures += ["%s starts no process: take it from the list" % path for path in sorted(DIRECT.keys() - found.keys())]
print("\n".join(failures) or "%d files start processes directly, each for a reason" % len(found))
sys.exit(1 if failures else 0)
