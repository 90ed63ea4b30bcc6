"""Callables written down as files: what was written is loaded again and gives the same answers."""

import array
import linecache
import math
import pathlib
import types
import unittest

import sources
from support import InFolder, main

from kernelwright import _source, config, reference
from kernelwright.errors import InputError
from kernelwright.results import KernelSpec


def loaded(text: str, name: str):
    text = "".join(line for line in text.splitlines(True) if line.strip() != "import torch")
    scope = {}
    exec(compile(text, "<written>", "exec"), scope)
    return scope[name]


class Writing(unittest.TestCase):
    def check(self, function, *arguments):
        written = loaded(*_source.source_of(function))
        self.assertEqual(written(*arguments), function(*arguments))

    def test_function_with_helpers_constants_and_imports(self):
        self.check(sources.function, 3.0)
        self.check(sources.function, 3.0, math.inf)

    def test_recursion(self):
        self.check(sources.recursive, 5)

    def test_closure(self):
        self.check(sources.closing(4), 5)

    def test_lambda(self):
        self.check(sources.named, 1.0, 2.0)

    def test_lambda_over_lines(self):
        self.check(sources.spread[0], 7.0)

    def test_lambdas_on_one_line(self):
        self.check(sources.pair[0], 10)
        self.check(sources.pair[1], 10)

    def test_partial(self):
        self.check(sources.part, 2.0)

    def test_builtin(self):
        self.check(math.hypot, 3.0, 4.0)

    def test_alias(self):
        text, name = _source.source_of(sources.alias)
        self.assertEqual(name, "helper")
        self.assertIn("EPS = 1e-05", text)

    def test_class_brings_its_inputs(self):
        text, name = _source.source_of(sources.Model)
        self.assertEqual(name, "Model")
        self.assertIn("def get_init_inputs", text)
        self.assertEqual(loaded(text, name)().forward(2.0), 2.0 * sources.EPS)

    def test_what_cannot_be_written(self):
        with self.assertRaisesRegex(_source.Unwritable, "'x' is an object"):
            _source.source_of(sources.over_object)

    def test_parameters_are_not_globals(self):
        self.assertNotIn("x = ", _source.source_of(sources.closing(1))[0])

    def test_annotations_of_names_that_are_not_there(self):
        scope = {}
        text = "from __future__ import annotations\ndef f(x: Missing):\n    return x\n"
        path = "<annotated>"
        linecache.cache[path] = (len(text), None, text.splitlines(True), path)
        exec(compile(text, path, "exec"), scope)
        self.check(scope["f"], 3)

    def test_constants(self):
        cases = [(None, "None"), (-math.inf, 'float("-inf")'), ((1,), "(1,)"), ([1.5, "a"], "[1.5, 'a']"),
                 ({"k": (1, 2)}, "{'k': (1, 2)}"), (object(), None), ([object()], None)]
        for value, text in cases:
            with self.subTest(value=value):
                self.assertEqual(_source.constant_text(value), text)


class Preparing(InFolder):
    def test_paths(self):
        path = self.folder / "ref.py"
        path.write_text("def f(x):\n    return x\n")
        prepared = reference.prepare(f"{path}:f", {"x": "fp16[B, D]", "eps": 1e-5})
        self.assertEqual((prepared.path, prepared.function), (str(path), "f"))
        self.assertEqual(prepared.inputs, ["x:fp16[B, D]", "eps=1e-05"])

    def test_no_such_path(self):
        with self.assertRaisesRegex(InputError, "no file or folder"):
            reference.prepare(str(self.folder / "nothing.py"))

    def test_no_callable(self):
        with self.assertRaisesRegex(InputError, "must be a callable or a path"):
            reference.prepare(3)  # type: ignore[arg-type]

    def test_bounds_are_written(self):
        text = pathlib.Path(reference.prepare(sources.function, rtol=1e-2).path).read_text()
        self.assertIn("\nrtol = 0.01\n", text)
        with self.assertRaisesRegex(InputError, "in the file of the reference"):
            reference.prepare(__file__, rtol=1e-2)

    def test_examples_become_inputs(self):
        table = memoryview(array.array("f", range(24))).cast("B").cast("f", (12, 2))
        examples = {"ids": array.array("q", [0, 7]), "table": table, "sign": array.array("b", [-1, 1])}
        text = reference._inputs_text(examples)
        self.assertIn("table_0 = 12\n", text)
        self.assertIn('"ids": torch.randint(0, table_0, (2,), dtype=torch.int64)', text)
        self.assertIn('"table": torch.randn((table_0, 2)).to(torch.float32)', text)
        self.assertIn('"sign": torch.randint(-1, 2, (2,), dtype=torch.int8)', text)

    def test_builtins_by_their_documentation(self):
        cases = [("\ngelu(input, approximate='none') -> Tensor\n", ["input"]),
                 ("gelu(input, other, *, out=None) -> Tensor", ["input", "other"]),
                 ("no signature", []), (None, [])]
        for text, names in cases:
            with self.subTest(text=text):
                shown = types.SimpleNamespace(__name__="gelu", __doc__=text)
                self.assertEqual(_source.documented_parameters(shown), names)

    def test_can_be_forgotten(self):
        prepared = reference.prepare(sources.closing(17))
        self.assertTrue(pathlib.Path(prepared.path).is_file())
        prepared.forget()
        self.assertFalse(pathlib.Path(prepared.path).exists())

    def test_too_many_examples(self):
        with self.assertRaisesRegex(InputError, "3 inputs were given for a reference that takes 2"):
            reference.prepare(sources.named, [b"a", b"b", b"c"])


class Spec(unittest.TestCase):
    def test_round_trip_and_frozen(self):
        document = {"name": "f", "target_arch": "sm_90",
                    "inputs": [{"name": "x", "dtype": "fp16", "shape": ["B", "D"]}],
                    "outputs": [{"name": "y", "dtype": "fp32", "shape": []}],
                    "precision_tolerance": {"rtol": None, "atol": 1e-3}, "optimization_priority": "latency"}
        spec = KernelSpec.of(document)
        self.assertEqual(spec.inputs[0].shape, ("B", "D"))
        self.assertEqual(KernelSpec.of(spec.to_json()), spec)
        with self.assertRaises(AttributeError):
            spec.name = "g"
        document["inputs"][0]["dtype"] = "fp17"
        with self.assertRaisesRegex(ValueError, "'fp17' is not one of fp64"):
            KernelSpec.of(document)


class Config(unittest.TestCase):
    def test_defaults(self):
        made = config.SynthesisConfig()
        budgets = made.retry_budgets
        self.assertEqual((budgets.interview, budgets.codegen, budgets.correctness, budgets.performance, budgets.polish),
                         (1, 3, 3, 3, 1))
        self.assertEqual(made.perf_target_speedup_vs_torch_compile, 1.0)
        self.assertEqual(made.performance_shape_n, 16_777_216)
        self.assertEqual(made.correctness_shapes, ((0,), (1,), (127,), (128,), (1024,), (4097,)))
        self.assertFalse(made.escalate_to_opus_on_bust)
        self.assertEqual((made.opus_retry_budget_codegen, made.opus_retry_budget_performance), (1, 1))
        self.assertEqual({made.stage_models.codegen, made.stage_models.polish}, {"anthropic:claude-sonnet-4-6"})

    def test_frozen(self):
        for value in (config.SynthesisConfig(), config.RetryBudgets(), config.StageModels()):
            with self.subTest(value=value), self.assertRaises(AttributeError):
                value.codegen = 7

    def test_only_changes_are_passed_on(self):
        self.assertEqual(config.SynthesisConfig().engine_options(), {"device": "auto", "perf_target": 1.0})
        made = config.SynthesisConfig(retry_budgets=config.RetryBudgets(codegen=5), seconds=3, baselines=(),
                                      stage_models=config.StageModels(polish="openai:gpt-4o"),
                                      escalate_to_opus_on_bust=True)
        options = made.engine_options()
        self.assertEqual(options["retries"], {"codegen": 5})
        self.assertEqual(options["stage_model"], {"polish": "openai:gpt-4o"})
        self.assertEqual((options["time"], options["escalate"], options["versus"]), (3, True, ["none"]))

    def test_what_means_something_here_is_passed_on(self):
        made = config.SynthesisConfig(performance_shape_n=65536, opus_retry_budget_codegen=2,
                                      opus_retry_budget_performance=0, retry_budgets=config.RetryBudgets(polish=0))
        options = made.engine_options()
        self.assertEqual(options["elements"], 65536)
        self.assertEqual(options["retries"], {"polish": 0, "escalated_codegen": 2, "escalated_performance": 0})

    def test_nonsense_is_refused(self):
        for make in (lambda: config.RetryBudgets(codegen=-1), lambda: config.StageModels(codegen="")):
            with self.subTest(), self.assertRaises(ValueError):
                make()


if __name__ == "__main__":
    main()
