"""What the tests of synthesize share: the harness of the command line, references, folders of runs."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
from harness import Harness, ROOT, skip  # noqa: E402

NO_GPU = {"KERNELWRIGHT_LIBCUDA": "/nowhere/libcuda.so.1"}
RMS_NORM = os.path.join(ROOT, "examples", "rms_norm.py")


def passed(name, text):
    """Whether a summary begins as a verdict that passed; where it is not complete, it says so first."""
    return re.search(r"^PASSED (below [\d,]+ elements: )?%s$" % re.escape(name), text, re.M) is not None


class Jobs(Harness):
    def __init__(self, binary):
        super().__init__(binary)
        self.environment.update(NO_GPU, KERNELWRIGHT_RUNS=self.path("runs"))
        self.environment.pop("KERNELWRIGHT_COMPILER", None)
        self.words = ["--cross-check", "never", "--compiler", self.compiler()]

    def synthesize(self, reference, *words, **options):
        return self.run("synthesize", "--reference", reference, *self.words, *words, **options)

    def runs(self):
        root = self.path("runs")
        names = os.listdir(root) if os.path.isdir(root) else []
        folders = [os.path.join(root, name) for name in names if os.path.isdir(os.path.join(root, name, "inputs"))]
        return sorted(folders, key=lambda folder: os.stat(os.path.join(folder, "inputs")).st_mtime_ns)

    def newest(self):
        return self.runs()[-1]

    def report(self, folder):
        with open(os.path.join(folder, "report.json")) as file:
            return json.load(file)

    def events(self, folder):
        with open(os.path.join(folder, "events.jsonl"), "rb") as file:
            lines = file.read().split(b"\n")
        return [json.loads(line) for line in lines if line.strip()]

    def added(self, folder):
        return [event["data"]["id"] for event in self.events(folder) if event["kind"] == "added"]
