"""What the tests of evolve share: evolutions on the virtual GPU, their journals, and the tasks they evolve."""
import importlib.util
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)


def load(folder):
    """Several folders have a common.py."""
    spec = importlib.util.spec_from_file_location(folder + "_common", os.path.join(TESTS, folder, "common.py"))
    sys.path.insert(0, os.path.dirname(spec.origin))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


stages_common = load("stages")
ROOT, skip = stages_common.synthesize_common.ROOT, stages_common.skip
INTERNAL = os.path.join(ROOT, "suites", "internal")


class Evolving:
    """Mixed into a harness: evolve on the virtual GPU."""

    def evolve(self, task, *words, **options):
        return self.run("evolve", task, "--device", "vgpu", "--target", "sm_90", "--cross-check", "never", "--versus", "none",
                        "--budget-seconds", "1", "--compiler", self.chosen(), *words, **{"timeout": 900, **options})

    def chosen(self):
        return self.compiler()

    def journal(self, folder):
        """What happened, without what a clock says and where sessions begin."""
        rows = [event["data"] for event in self.events(folder) if event["kind"] == "evolve"]
        return [row for row in rows if row["event"] != "begin"]

    def evolution(self, done):
        self.check(done.returncode == 0, "the evolution ends well", done)
        return json.loads(done.stdout).get("evolution") if done.returncode == 0 else None


class Evolutions(Evolving, stages_common.synthesize_common.Jobs):
    pass
