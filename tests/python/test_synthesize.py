"""synthesize, verify, bench and Run on the virtual GPU with the built-in proposer."""

import array
import os
import pathlib
import signal
import subprocess
import sys
import types
from unittest import mock

import snippets
from support import ROOT, InFolder, main, needs

import kernelwright
from kernelwright import InputError, MachineError, Run, SynthesisConfig, bench, compare, synthesize, verify

QUICK = {"device": "vgpu", "cross_check": "never", "seconds": 2, "candidates": 1}
SAID = {"x": "fp32[N]", "y": "fp32[N]"}


def add(x, y):
    return x + y


def softplus_like(x):
    return (1 + x.exp()).log()


class Story(InFolder):
    """One run, looked at from all sides."""

    def test_from_reference_to_result(self):
        seen = []
        config = SynthesisConfig(artifact_root=self.folder / "runs", seed=3, correctness_shapes=((7,), (0,)), **QUICK)
        result = synthesize("vector add", add, config=config, inputs=SAID, dims={"N": 4096},
                            progress=lambda kind, text: seen.append((kind, text)))
        self.assertTrue(result.passed, result.failure_reason)
        self.assertTrue(result.correctness.passed)
        self.assertIsNone(result.performance.time_us)
        self.assertGreater(result.performance.estimate_us, 0)
        self.assertIsNone(result.performance.below_target)
        self.assertIn("search", result.report.stages_executed)
        self.assertEqual(result.report.stage_traces[0].model_used, "none")
        self.assertTrue(any(kind == "progress" for kind, _ in seen), seen)
        self.check_kernel(result)
        self.check_verdicts(result)
        self.check_run(result)

    def check_kernel(self, result):
        x, y = array.array("f", [1, 2, 3]), array.array("f", [10, 20, 30])
        self.assertEqual(result.kernel(x, y).tolist(), [11, 22, 33])
        self.assertEqual(result.kernel_callable(y=y, x=x).tolist(), [11, 22, 33])
        self.assertIn("//! kernelwright 1", result.artifact.source)
        self.assertEqual(result.kernel_path, pathlib.Path(result.document["kernel"]))

    def check_verdicts(self, result):
        how = {"inputs": SAID, "dims": {"N": 300}, "device": "vgpu", "cross_check": "never"}
        self.assertTrue(verify(result, add, **how))
        verdict = verify(result, lambda x, y: x - y, **how)
        self.assertFalse(verdict)
        self.assertNotEqual(verdict.verdict, "passed")
        timed = bench(result.kernel, add, **how)
        self.assertTrue(timed.passed)
        self.assertIsNone(timed.time_us)
        self.assertGreater(timed.estimate_us, 0)
        with self.assertRaisesRegex(MachineError, "needs a GPU"):
            compare(result, result, dims={"N": 300}, device="vgpu")

    def check_run(self, result):
        run = Run(result.run_id[:-2], self.folder / "runs")
        self.assertEqual((run.id, run.status), (result.run_id, "passed"))
        self.assertEqual([one.id for one in Run.all(self.folder / "runs")], [run.id])
        self.assertTrue(run.result.passed)
        self.assertEqual(run.kernel(array.array("f", [1]), array.array("f", [1])).tolist(), [2])
        with self.assertRaises(InputError):
            Run("nobody", self.folder / "runs")

    def test_reference_that_cannot_be_read(self):
        with self.assertRaisesRegex(InputError, "x") as raised:
            synthesize("", add, config=SynthesisConfig(artifact_root=self.folder, **QUICK))
        self.assertEqual(raised.exception.blame, "input")

    def test_options_are_checked(self):
        for options, message in (({"device": "tpu"}, "tpu"), ({"nonsense": 1}, "no option --nonsense")):
            with self.subTest(options=options), self.assertRaisesRegex(InputError, message):
                synthesize("", add, inputs=SAID, **options)
        with self.assertRaisesRegex(InputError, "not a SynthesisConfig"):
            synthesize("", add, config={"device": "vgpu"})

    def test_what_has_no_effect_is_said(self):
        with self.assertWarnsRegex(UserWarning, "nvcc_flags has no effect"), self.assertRaises(InputError):
            synthesize("", add, config=SynthesisConfig(nvcc_flags=("-O2",), device="tpu"))

    def test_ctrl_c_keeps_the_run(self):
        code = ("import sys; sys.path[:0] = sys.argv[1:3]; from kernelwright import *; import test_synthesize as t\n"
                "def told(kind, text):\n    print(text, flush=True)\n"
                "try:\n    synthesize('', t.softplus_like, inputs={'x': 'fp32[B, D]'}, progress=told, device='vgpu', "
                "cross_check='never', time='300s', out=sys.argv[3])\n"
                "except KeyboardInterrupt as stopped:\n    print('stopped:', stopped, flush=True)\n")
        child = subprocess.Popen(
            [sys.executable, "-c", code, str(ROOT / "python"), str(ROOT / "tests/python"), str(self.folder)],
            stdout=subprocess.PIPE, text=True)
        said = ""
        for line in child.stdout:
            said += line
            if "tried" in line or "search" in line:
                break
        child.send_signal(signal.SIGINT)
        rest, _ = child.communicate(timeout=120)
        self.assertEqual(child.returncode, 0, said + rest)
        self.assertRegex(rest, "stopped: interrupted; the run is kept in ")
        run = Run("latest", self.folder)
        self.assertEqual(run.status, "interrupted")
        self.assertTrue((run.folder / "report.json").is_file())
        again = run.resume(seconds=1, candidates=1)
        self.assertTrue(again.passed, again.failure_reason)
        self.assertEqual(again.run_id, run.id)


class Snippets(InFolder):
    """Only the import was changed."""

    def setUp(self):
        super().setUp()
        names = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY")
        kept = {name: os.environ.pop(name) for name in names if name in os.environ}
        self.addCleanup(os.environ.update, kept)
        self.addCleanup(setattr, kernelwright, "synthesize", synthesize)

    def run_snippet(self, text, scope=None):
        """As a file of its own, so that its functions have source, and with less searching than a user would want."""
        path = self.folder / "snippet.py"
        path.write_text(text)
        kernelwright.synthesize = lambda **given: synthesize(**given, device="vgpu", time=2, candidates=1,
                                                             cross_check="never")
        scope = {"__name__": "snippet", **(scope or {})}
        module = types.ModuleType("snippet")
        module.__dict__.update(scope)
        module.__file__ = str(path)
        with mock.patch.dict(sys.modules, {"snippet": module}):
            exec(compile(text, str(path), "exec"), module.__dict__)
        return module.__dict__

    @needs("torch")
    def test_quickstart(self):
        result = self.run_snippet(snippets.QUICKSTART)["result"]
        self.assertIn("fp16", result.artifact.source)
        self.assertTrue(pathlib.Path(result.artifacts_dir).is_dir())
        if result.document["measured"]:
            exec(snippets.QUICKSTART_MEASURED, {"result": result})
        else:
            self.assertIsNone(result.performance.below_target)

    def test_library(self):
        def my_pytorch_fn(x: "fp32[N]"):  # noqa: F821
            return x * 2

        result = self.run_snippet(snippets.LIBRARY, {"my_pytorch_fn": my_pytorch_fn})["result"]
        self.assertTrue(result.passed, result.failure_reason)

    def test_providers(self):
        config = self.run_snippet(snippets.PROVIDERS)["config"]
        self.assertEqual(config.stage_models.interview, "openai:gpt-4o")
        self.assertEqual(config.stage_models.polish, "anthropic:claude-sonnet-4-6")


if __name__ == "__main__":
    main()
