"""__init__.pyi lists every option of a command as a keyword of its function. It is made from the library's table of
options; KW_UPDATE_GOLDEN=1 writes it again. Fields of SynthesisConfig are compared with the same table."""

import ast
import dataclasses
import inspect
import keyword
import os
import unittest

from support import ROOT, main

from kernelwright import SynthesisConfig, _jobs, api

PACKAGE = ROOT / "python" / "kernelwright"
STUB = PACKAGE / "__init__.pyi"
HEAD = '''"""Made by tests/python/test_stub.py from the table of options; KW_UPDATE_GOLDEN=1 writes it again."""

from collections.abc import Mapping, Sequence
from typing import Literal

from kernelwright.api import Module
from kernelwright.progress import Watcher
from kernelwright.reference import Inputs, Reference
'''
TYPES = {"flag": "bool", "whole": "int", "number": "float", "seconds": "float", "duration": "float | str",
         "switch": 'Literal["on", "off"]', "pairs": "Mapping[str, float]", "inputs": "Mapping[str, str]",
         "texts": "Sequence[str] | Mapping[str, str]"}
READ = {"whole": int, "number": float, "seconds": float}


def options_of(command: str) -> dict:
    """The options of a command by their names in Python."""
    document = _jobs.run("help", {"arguments": [command]}, False)
    return {one["name"][2:].replace("-", "_"): one for one in document["commands"][0]["options"]}


def default_of(option: dict):
    if option["type"] == "flag":
        return False
    return None if option["default"] is None else READ.get(option["type"], str)(option["default"])


def type_of(option: dict) -> str:
    names = f"Literal[{', '.join(map(repr, option['choices']))}]".replace("'", '"')
    made = TYPES.get(option["type"], "str")
    if option["choices"]:
        made = names if option["type"] == "choice" else f"Sequence[{names}] | str"
    return made if default_of(option) is not None else f"{made} | None"


def parameters(function) -> list:
    return [one for one in inspect.signature(function).parameters.values() if one.kind is not one.VAR_KEYWORD]


def function_text(function) -> str:
    """The function with the options of its command instead of **options."""
    own, lines, star = parameters(function), [], False
    for one in own:
        if one.kind is one.KEYWORD_ONLY and not star:
            lines.append("*")
            star = True
        default = "" if one.default is one.empty else f" = {one.default!r}".replace("'", '"')
        lines.append(f"{one.name}: {one.annotation}{default}")
    for name, option in options_of(function.__name__).items():
        if name not in {one.name for one in own}:
            lines.append(f"{name}: {type_of(option)} = {default_of(option)!r}".replace("'", '"'))
    inside = "".join(f"    {line},\n" for line in lines)
    return f"def {function.__name__}(\n{inside}) -> {inspect.signature(function).return_annotation}: ...\n"


def stub_text() -> str:
    """The imports and __all__ of __init__.py, and the functions in full."""
    source = (PACKAGE / "__init__.py").read_text()
    parts = [part for part in ast.parse(source).body[1:] if getattr(part, "module", "") != "kernelwright.api"]
    texts = [ast.get_source_segment(source, part) for part in parts]
    functions = [function_text(one) for one in (api.bench, api.compare, api.synthesize, api.verify)]
    return "\n".join([HEAD.rstrip(), *texts[:-1], "", texts[-1], "", *functions])


class Stub(unittest.TestCase):
    def test_stub_is_the_tables(self):
        made = stub_text()
        ast.parse(made)
        if os.environ.get("KW_UPDATE_GOLDEN"):
            STUB.write_text(made)
        self.assertEqual(STUB.read_text(), made, "KW_UPDATE_GOLDEN=1 writes it again")

    def test_every_option_can_be_a_keyword(self):
        for command in ("synthesize", "verify", "bench", "compare", "resume", "tune"):
            for name in options_of(command):
                self.assertTrue(name.isidentifier() and not keyword.iskeyword(name), name)


class Config(unittest.TestCase):
    def test_fields_are_options(self):
        options = options_of("synthesize")
        for one in dataclasses.fields(SynthesisConfig):
            if "option" not in one.metadata:
                continue
            option = options[one.metadata["option"] or one.name]
            self.assertEqual(isinstance(one.default, bool), option["type"] == "flag", one.name)
            if one.default not in (None, "", False) and not one.metadata["own_default"]:
                self.assertEqual(one.default, default_of(option), one.name)


if __name__ == "__main__":
    main()
