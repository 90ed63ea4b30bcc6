"""Every plain kernel is right: each is judged against its reference on the virtual GPU. For the first alone, or with KW_LONG=1 for
all, inputs are of every family, and PyTorch is asked whether it reads the reference as we do."""
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
from harness import shared_cache  # noqa: E402


def main():
    kernelwright = sys.argv[1]
    folders = sorted(one for one in (HERE / "plain").iterdir() if (one / "kernel.cu").exists())
    cache = shared_cache(kernelwright)
    environment = dict(os.environ, **({"KERNELWRIGHT_CACHE": cache} if cache else {}))
    checked = folders if os.environ.get("KW_LONG") == "1" else folders[:1]
    failed = []
    for folder in folders:
        ran = subprocess.run(
            [kernelwright, "verify", str(folder / "kernel.cu"), "--reference", str(folder / "reference.py"),
             "--device", "vgpu", "--budget-seconds", "2", "--json",
             *(["--cross-check", "auto"] if folder in checked else ["--cross-check", "never", "--family", "normal"])],
            capture_output=True, text=True, timeout=300, env=environment)
        if ran.returncode == 3 and "no compiler" in ran.stdout + ran.stderr:
            print("skipped: no CUDA compiler here")
            return 77
        verdict = json.loads(ran.stdout).get("verdict")
        print(f"{folder.name:12} {verdict}")
        if ran.returncode != 0:
            failed.append(folder.name)
            print(ran.stdout[-2000:], ran.stderr[-2000:])
    print(f"{len(folders)} kernels, {len(failed)} failed")
    return 1 if failed or len(folders) != 8 else 0


if __name__ == "__main__":
    sys.exit(main())
