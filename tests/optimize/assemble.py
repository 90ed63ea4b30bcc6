"""A branch that the virtual GPU runs and ptxas refuses is dropped and named; the run continues."""
import json
import pathlib
import subprocess
import sys
import tempfile

REFERENCE = 'def scale(x: "fp32[N]"):\n    return x * 2\n'
MODULE = """//! kernelwright 1
//! task    scale
//! input   x: fp32[N]
//! output  y: fp32[N]
//! launch  scale grid(ceil_div(N, 256)) block(256) args(x, y, N)
__global__ void scale(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  BODY
}
"""
PLAIN = MODULE.replace("BODY", "y[i] = x[i] * 2;")
OTHER = MODULE.replace("BODY", "y[i] = x[i] + x[i];")
# cp.async needs sm_80; the run is for sm_75.
REFUSED = MODULE.replace("BODY", """__shared__ float a[256];
  const unsigned at = (unsigned)__cvta_generic_to_shared(&a[threadIdx.x]);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(x + i) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  y[i] = a[threadIdx.x] * 2;""")


def main():
    kernelwright = sys.argv[1]
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)

        def run(*words, exit_code=0):
            ran = subprocess.run([kernelwright, *map(str, words)], capture_output=True, text=True, cwd=made)
            assert ran.returncode == exit_code, (words, ran.returncode, ran.stdout, ran.stderr)
            return ran.stdout

        (folder / "scale.py").write_text(REFERENCE)
        (folder / "plain.cu").write_text(PLAIN)
        (folder / "refused.cu").write_text(REFUSED)
        checked = subprocess.run([kernelwright, "check", folder / "refused.cu", "--target", "sm_75"],
                                 capture_output=True, text=True)
        if checked.returncode == 0 or "cp.async" not in checked.stdout + checked.stderr:
            print("skipped: nothing here assembles machine code")
            return 77
        run("optimize", "setup", "plain.cu", "--reference", "scale.py", "--dim", "N=4096", "--target", "sm_75",
            "--device", "vgpu", "--cross-check", "never", "--out", "runs")
        (place,) = (folder / "runs").glob("run_*")
        run("optimize", "open-iter", "--run-dir", place, "--iter", 1)
        iteration = place / "iterv1"
        (iteration / "methods.json").write_text(json.dumps({"iter": 1, "methods": []}))

        def put(**branches):
            for name, text in branches.items():
                (iteration / "branches" / name).mkdir(parents=True, exist_ok=True)
                (iteration / "branches" / name / "kernel.cu").write_text(text)

        put(b1=REFUSED)
        said = run("optimize", "close-iter", "--run-dir", place, "--iter", 1, exit_code=1)
        assert "b1     rejected" in said and "requires .target sm_80" in said and "all branches failed" in said, said
        put(b2=OTHER)
        said = run("optimize", "close-iter", "--run-dir", place, "--iter", 1)
        assert "b1     rejected" in said and "b2     passed" in said and "champion: b2" in said, said
        # The same kernel as the baseline is the user's matter.
        refused = subprocess.run(
            [kernelwright, "optimize", "setup", "refused.cu", "--reference", "scale.py", "--dim", "N=4096", "--target",
             "sm_75", "--device", "vgpu", "--cross-check", "never", "--out", "other"],
            capture_output=True, text=True, cwd=made)
        assert refused.returncode in (1, 2), (refused.returncode, refused.stdout, refused.stderr)
        assert "requires .target sm_80" in refused.stdout + refused.stderr, (refused.stdout, refused.stderr)
        print("dropped, named, and the run went on")
    return 0


if __name__ == "__main__":
    sys.exit(main())
