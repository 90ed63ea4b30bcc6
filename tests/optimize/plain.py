"""Every plain kernel is right: each is judged against its reference on the virtual GPU."""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def main():
    kernelwright = sys.argv[1]
    folders = sorted(one for one in (HERE / "plain").iterdir() if (one / "kernel.cu").exists())
    failed = []
    for folder in folders:
        ran = subprocess.run(
            [kernelwright, "verify", str(folder / "kernel.cu"), "--reference", str(folder / "reference.py"),
             "--device", "vgpu", "--json"], capture_output=True, text=True, timeout=300)
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
