"""Runs a test with a Python that has torch: $KW_TORCH_PYTHON alone when it is set, else this one, else the build's."""

import os
import pathlib
import subprocess
import sys

CHECK = "import importlib.util, sys; sys.exit(not importlib.util.find_spec('torch'))"


def candidates() -> list[str]:
    named = os.environ.get("KW_TORCH_PYTHON")
    if named:
        return [named]
    venv, build = os.environ.get("VIRTUAL_ENV"), pathlib.Path(os.environ["KW_BUILD"])
    found = [sys.executable, *([f"{venv}/bin/python"] if venv else []), str(build / "torch-venv/bin/python")]
    return [one for one in found if os.access(one, os.X_OK)]


for python in candidates():
    if subprocess.run([python, "-c", CHECK], stderr=subprocess.DEVNULL).returncode == 0:
        os.execv(python, [python, "-B", *sys.argv[1:]])
print("skipped: no Python here has torch")
sys.exit(77)
