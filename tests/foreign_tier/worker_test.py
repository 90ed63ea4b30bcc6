#!/usr/bin/env python3
"""What the Python side of the foreign tier knows without torch: numbers of a reference at a shape, and what a model is made with.

Usage: worker_test.py FOLDER      (python/foreign_worker)
"""
import importlib.util
import os
import sys
import types

spec = importlib.util.spec_from_file_location("common", os.path.join(sys.argv[1], "common.py"))
common = importlib.util.module_from_spec(spec)
spec.loader.exec_module(common)

DIMS = [  # text, dims, name, value
    ("n = 4", {"n": 9}, "n", 9), ("n = 4", {"m": 9}, "n", 4), ("n = 4\nm = n * 2", {"n": 9}, "m", 18),
    ("h, w = 4, 5", {"w": 7}, "w", 7), ("h, w = 4, 5", {"w": 7}, "h", 4), ("shape = (2, 3)", {"shape_1": 8}, "shape", (2, 8)),
    ("shape = [2, 3]", {"shape_0": 8}, "shape", [8, 3]), ("flag = True", {"flag": 3}, "flag", True), ("n = m = 4", {"n": 9}, "n", 4),
    ("def f():\n    n = 4\n    return n\nx = f()", {"n": 9}, "x", 4)]
WORDS = [  # reference, candidate, positional, named
    ("n = 4\ndef get_init_inputs():\n    return [n, 0.5]", "", [8, 0.5], {}),
    ("", "def get_init_inputs():\n    return [3]", [3], {}), ("", "", [], {}),
    ("def get_init_inputs():\n    return {'n': 1}", "", [], {"n": 1}), ("def get_init_inputs():\n    return [[1, 2], {'k': 3}]", "", [1, 2], {"k": 3}),
    ("def reference(x): return x", "def get_init_inputs():\n    return [7]", [7], {})]


def main():
    failed = 0
    for text, dims, name, want in DIMS:
        space = {}
        exec(compile(common.with_dims(text, dims), "reference", "exec"), space)
        failed += space[name] != want
        print("ok" if space[name] == want else f"FAILED: {space[name]}, not {want}", repr(text), dims)
    for reference, candidate, words, named in WORDS:
        module = types.ModuleType("candidate")
        exec(candidate, module.__dict__)
        got = common.init_words({"reference_text": reference}, module, {"n": 8})
        failed += got != (words, named)
        print("ok" if got == (words, named) else f"FAILED: {got}, not {(words, named)}", repr(reference))
    sys.exit(1 if failed else 0)


main()
