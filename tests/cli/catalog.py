"""catalog: the list is golden, every method can be shown, and what is not there is said with what may have been meant."""
import json
import os
import sys

from harness import Harness

h = Harness(sys.argv[1])
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")


def golden(name, *words):
    done = h.run(*words)
    h.check(done.returncode == 0 and done.stderr == "", name, done)
    path = os.path.join(GOLDEN, name + ".txt")
    if os.environ.get("KW_UPDATE_GOLDEN"):
        with open(path, "w") as file:
            file.write(done.stdout)
    with open(path) as file:
        h.check(done.stdout == file.read(), "%s differs from %s" % (name, path), done)


golden("catalog", "catalog")
golden("catalog_vectorized_access", "catalog", "memory.vectorized_access")
golden("catalog_pingpong", "catalog", "pingpong_warpgroup_schedule")

whole = json.loads(h.run("catalog", "--json").stdout)
h.check(len(whole["methods"]) == 75, "75 methods")
names = {metric["id"] for metric in whole["metrics"]}
h.check("dram_throughput_pct" in names, "metrics come with it")
for method in whole["methods"]:
    done = h.run("catalog", method["id"], "--json")
    h.check(json.loads(done.stdout)["method"] == method, "one as in the list: " + method["id"], done)
text = h.run("catalog", "latency").stdout
h.check("latency.persistent_kernel" in text and "memory.tiling_smem" not in text, "one axis")

h.expect("typo", ["catalog", "memory.vectorised_access"], 2, "did you mean 'memory.vectorized_access'")
h.expect("short typo", ["catalog", "tensor_cores"], 2, "did you mean 'tensor_core'")
h.expect("nonsense", ["catalog", "\x01"], 2, "there is no method")
h.expect("two", ["catalog", "compute", "memory"], 2, "was not expected")
done = h.run("catalog", "nope", "--json")
h.check(done.returncode == 2 and not json.loads(done.stdout)["ok"], "an error is a document too", done)
h.finish()
