"""Passed to `python -c`: reads the job and the files of the worker from standard input and starts what the job names.

No file is written to disk, and the files always belong to the kernelwright that started this process.
"""
import gc
import importlib.util
import json
import os
import sys
import types

PACKAGE = "kw_foreign_worker"

job = json.load(sys.stdin)
for name, package, whose in (("triton", "triton", "Triton's"), ("cute", "cutlass", "CuTe DSL's")):
    if job.get(name) and importlib.util.find_spec(package) is None:  # reported before PyTorch is imported, which takes long
        missing = f"No module named '{package}'"
        print(json.dumps({"error": f"its kernels are {whose}, and this Python has no supported version of it ({missing})"}))
        sys.exit(0)
gc.disable()  # many objects are created and none freed meanwhile
package = types.ModuleType(PACKAGE)
package.__path__ = []
sys.modules[PACKAGE] = package
for name, text in job.pop("files").items():  # each file needs only those before it
    module = types.ModuleType(f"{PACKAGE}.{name}")
    sys.modules[module.__name__] = module
    setattr(package, name, module)
    exec(compile(text, f"<kernelwright {name}.py>", "exec"), module.__dict__)
gc.enable()
answer_to = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what the candidate prints is not part of the answer
getattr(package, job["worker"]).main(job, answer_to)
