"""profile, roofline and sass where there is no GPU: what is known, what is said to be unknown, and profiles made elsewhere."""
import json
import os
import stat
import sys

from harness import Harness, ROOT

h = Harness(sys.argv[1])
compiler = h.compiler()
MODULE = os.path.join(ROOT, "examples", "rms_norm.cu")
REFERENCE = os.path.join(ROOT, "examples", "rms_norm.py")
RECORDED = os.path.join(ROOT, "tests", "profile", "recorded")
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
NO_GPU = {"KERNELWRIGHT_LIBCUDA": "/nowhere/libcuda.so.1", "CUDA_HOME": h.path("toolkit")}
LISTING = """	.headerflags	@"EF_CUDA_SM90 EF_CUDA_PARAMETER_CONTINUATION"
.section	.text.%s,"ax",@progbits
.text.%s:
        /*0000*/                   LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0010*/                   FFMA R4, R4, R5, R6 ;
        /*0020*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0030*/              @P0  BRA 0x10 ;
        /*0040*/                   STG.E desc[UR4][R2.64], R4 ;
        /*0050*/                   EXIT ;
"""


def tool(name, body):
    path = h.path(os.path.join("toolkit", "bin", name))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + body)
    os.chmod(path, os.stat(path).st_mode | stat.S_IEXEC)


def document(*words, code=0):
    done = h.run(*words, "--json", env=NO_GPU)
    h.check(done.returncode == code, "%s: exit %d" % (" ".join(words[:1]), code), done)
    return json.loads(done.stdout)


def golden(name, text):
    path = os.path.join(GOLDEN, name + ".txt")
    if os.environ.get("KW_UPDATE_GOLDEN"):
        with open(path, "w") as file:
            file.write(text)
    with open(path) as file:
        h.check(text == file.read(), "differs from " + path)


def profiles():
    common = [MODULE, "--reference", REFERENCE, "--compiler", compiler, "--dims", '{"B": 16384, "D": 1024}']
    done = h.run("profile", *common, env=NO_GPU)
    h.check(done.returncode == 0, "without a GPU there is a profile all the same", done)
    for words in ("not judged or timed", "counted on the virtual GPU", "no hardware counters: no GPU was used",
                  "an estimate: nothing was timed", "gap of latency: unknown", "not measured:"):
        h.check(words in done.stdout, "says: " + words, done)
    report = document("profile", *common)
    evidence = report["evidence"]
    h.check(report["measured"] is False and report["us"] is None and report["verdict"] is None, "nothing was measured")
    h.check(evidence["roofline"]["estimated"] is True and evidence["counters"] is False, "the roofline is an estimate")
    h.check(evidence["metrics"]["global_load_sectors"] ==
            dict(evidence["metrics"]["global_load_sectors"], value=2097152.0, source="vgpu"),
            "sectors as an H200 counts them: %s" % evidence["metrics"]["global_load_sectors"])
    h.check("methods" in report["plan"], "with a plan")
    roofline = document("roofline", *common)
    h.check("plan" not in roofline and roofline["evidence"]["roofline"] == evidence["roofline"], "the roofline alone is the same")

    # Counters of a profile made elsewhere.
    report = document("profile", *common, "--ncu", os.path.join(RECORDED, "rms_norm_raw.csv"))
    metrics = report["evidence"]["metrics"]
    h.check(report["evidence"]["counters"] is True and metrics["stall_long_scoreboard_pct"]["value"] == 51.91, "counters of a file")
    h.check(metrics["global_load_sectors"]["source"] == "ncu" and report["evidence"]["roofline"]["time_us"] == 17.088,
            "which outweigh what was counted here")
    for name, words, code, pattern in (
            ("no reference", ["profile", MODULE], 2, r"--reference"),
            ("no module", ["profile", "absent.cu", "--reference", REFERENCE], 2, r"absent\.cu"),
            ("no file", ["profile", *common, "--ncu", "absent.csv"], 2, r"absent\.csv"),
            ("no report", ["profile", *common, "--ncu", "absent.ncu-rep"], 2, r"absent\.ncu-rep"),
            ("an empty file", ["profile", *common, "--ncu", h.write("empty.csv", "")], 2, r"empty\.csv is empty"),
            ("no profile", ["profile", *common, "--ncu", REFERENCE], 2, r"rms_norm\.py"),
            ("another kernel", ["profile", *common, "--ncu", os.path.join(RECORDED, "matmul_raw.csv")], 2, r"was not profiled"),
            ("a dim too many", ["profile", MODULE, "--reference", REFERENCE, "--dim", "X=3"], 2, r"X"),
            ("a dim that is none", ["roofline", MODULE, "--reference", REFERENCE, "--dim", "B"], 2, r"--dim"),
            ("no such tunable", ["profile", *common, "--tune", "NOPE=1"], 2, r"NOPE"),
            ("no such target", ["profile", *common, "--target", "sm_1"], 2, r"sm_1"),
            ("no GPU", ["profile", *common, "--device", "gpu"], 3, r"libcuda")):
        h.expect(name, words, code, pattern, env=NO_GPU)
    tool("ncu", "[ \"$1\" = --import ] && exec cat %s\nexit 1\n" % os.path.join(RECORDED, "rms_norm_raw.csv"))
    kept = h.write("kept.ncu-rep", "binary")
    h.check(document("profile", *common, "--ncu", kept)["evidence"]["counters"] is True, "a report is read by the profiler")
    tool("ncu", "echo '==ERROR== The file is damaged'; exit 1\n")
    h.expect("a damaged report", ["profile", *common, "--ncu", kept], 2, r"kept\.ncu-rep cannot be read.*The file is damaged", env=NO_GPU)


def machine_code():
    ptx = [MODULE, "--compiler", compiler, "--dim", "B=64", "--dim", "D=1024"]
    entry = "_Z8rms_normILi128ELi8EEvPK6__halfPS0_if"
    tool("nvdisasm", "cat <<'P'\n%sP\n" % (LISTING % (entry, entry)))
    done = h.run("sass", *ptx, env=NO_GPU)
    if done.returncode == 3 and "cubin" in done.stderr:
        print("nothing here makes cubins: the machine code is left out")
        return
    h.check(done.returncode == 0, "machine code", done)
    golden("sass", done.stdout.split("\n", 2)[2])
    golden("sass_raw", h.run("sass", *ptx, "--raw", env=NO_GPU).stdout.split("\n", 2)[2])
    report = document("sass", *ptx, "--method", "memory.vectorized_access")
    facts = report["kernels"][0]["facts"]
    h.check(facts["global_loads"] == {"16": 1} and facts["barriers"] == 1 and facts["loops"] == 1, "counted: %s" % facts)
    h.check(report["verdict"]["state"] in ("absent", "unknown"),
            "switching it off changes nothing here, so it is not there: %s" % report["verdict"])
    against = document("sass", *ptx, "--against", MODULE)
    h.check(against["changes"] == [] and against["other"]["name"] == "rms_norm.cu", "against itself nothing changes")
    for name, words, code, pattern in (
            ("no such method", ["sass", *ptx, "--method", "memory.vectorised_access"], 2, r"did you mean 'memory.vectorized_access'"),
            ("no such kernel", ["sass", *ptx, "--function", "absent"], 2, r"no kernel with 'absent'.*rms_norm"),
            ("no such module", ["sass", "absent.cu"], 2, r"absent\.cu"),
            ("no other module", ["sass", *ptx, "--against", "absent.cu"], 2, r"absent\.cu"),
            ("no such target", ["sass", *ptx, "--target", "sm_1"], 2, r"sm_1"),
            ("a shape it does not serve", ["sass", MODULE, "--compiler", compiler, "--dim", "D=-3"], 2, r"D")):
        h.expect(name, words, code, pattern, env=NO_GPU)
    tool("nvdisasm", "kill -SEGV $$\n")
    tool("cuobjdump", "echo rubbish\n")
    h.expect("tools that fail", ["sass", *ptx], 3, r"nvdisasm was killed by signal 11; cuobjdump printed no machine code", env=NO_GPU)


profiles()
machine_code()
h.finish()
