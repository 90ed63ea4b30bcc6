"""Passed to `python -c`: reads the files of the worker from the first frame on descriptor 3 and starts it.

The argument is "forks", "alone" or "times". Only with "forks" another process runs the references. Only "times" may
start processes for them: torch.compile starts compilers.

No file is written to disk, and the files always belong to the kernelwright that started this process.
"""
import importlib.abc
import importlib.util
import json
import linecache
import os
import struct
import sys

PACKAGE = "kw_torch_worker"


def read_exactly(count):
    data = b""
    while len(data) < count:
        piece = os.read(3, count - len(data))
        if not piece:
            os._exit(0)
        data += piece
    return data


class Files(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    def __init__(self, texts):
        self.texts = texts

    def find_spec(self, name, path=None, target=None):
        if name == PACKAGE:
            return importlib.util.spec_from_loader(name, self, is_package=True)
        if name.startswith(PACKAGE + ".") and self.file(name) in self.texts:
            return importlib.util.spec_from_loader(name, self)
        return None

    def file(self, name):
        return name.rpartition(".")[2] + ".py"

    def get_source(self, name):
        return "" if name == PACKAGE else self.texts[self.file(name)]

    def get_code(self, name):
        text, shown = self.get_source(name), f"<kernelwright {self.file(name)}>"
        linecache.cache[shown] = (len(text), None, text.splitlines(True), shown)
        return compile(text, shown, "exec")


(size,) = struct.unpack("<I", read_exactly(4))
sys.meta_path.insert(0, Files(json.loads(read_exactly(size))))
from kw_torch_worker import main, no_children, template  # noqa: E402  (only now can they be found)

how = sys.argv.pop()
if how == "alone":
    no_children.enter()
(template if how == "forks" else main).serve(3)
