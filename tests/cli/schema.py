"""What --json prints has the keys that the documents promise, and no others. Keys are only ever added."""
import json
import os
import re
import sys

from harness import Harness, ROOT

h = Harness(sys.argv[1])
compiler = h.compiler()
MODULE = os.path.join(ROOT, "examples", "rms_norm.cu")
REFERENCE = os.path.join(ROOT, "examples", "rms_norm.py")
DIMS = ["--dim", "B=2", "--dim", "D=64"]
VGPU = ["--device", "vgpu", "--compiler", compiler]
JUDGE = ["--reference", REFERENCE, *VGPU, "--cross-check", "never", "--dims", '{"B": 3, "D": 64}', "--family", "normal"]
BENCH = ["--reference", REFERENCE, *VGPU, "--cross-check", "never", "--quick", "--dims", '{"B": 64, "D": 64}']
EVERY = {"kernelwright", "command", "ok", "exit_code"}
h.environment["KERNELWRIGHT_RUNS"] = h.path("runs")
h.write("broken.cu", "//! kernelwright 1\n")

# Words, exit code, the document, and all keys of the first level; "a.b" and "a[].b" are keys below.
ROWS = [
    (["run", MODULE, *DIMS, *VGPU, "--counters"], 0, "cli",
     "module device dims tunes group compile status message outputs findings counters timing printed seconds notes "
     "module.file module.task compile.ok compile.compiler compile.messages compile.target compile.seconds compile.from_cache compile.kernels "
     "outputs[].name outputs[].dtype outputs[].shape outputs[].min outputs[].max outputs[].mean outputs[].nans outputs[].infinities outputs[].hash "
     "counters[].kernel counters[].blocks counters[].threads_per_block counters[].total counters[].lines"),
    (["check", MODULE, *DIMS, "--compiler", compiler], 0, "cli",
     "module target compiler dims groups assignments assignments_cut resources_note variants notes groups[].guard groups[].line groups[].example "
     "variants[].ok variants[].group variants[].tunes variants[].dims variants[].failed variants[].warnings variants[].plan_error "
     "variants[].virtual_gpu variants[].launches"),
    (["verify", MODULE, *JUDGE], 0, "verify",
     "verdict judge error cells deterministic batch_invariant batch sum_order complete certified below incomplete complete_below launch_groups module trust certifies recorded device compiler replay_seeded task cross_check stages cell_list skipped lint warnings kill_rate "
     "seconds prepare_seconds truths_by constants task.name task.hash task.notes stages[].stage stages[].outcome stages[].lines stages[].seconds "
     "cell_list[].stage cell_list[].cell cell_list[].why cell_list[].right cell_list[].seconds cell_list[].error"),
    (["verify", h.path("broken.cu"), *JUDGE], 1, "verify",
     "verdict judge stage reason finding repro module trust certifies recorded device compiler replay_seeded task cross_check stages cell_list launch_groups skipped lint warnings kill_rate "
     "seconds prepare_seconds truths_by constants"),
    (["lint", REFERENCE, "--dims", '{"B": 8, "D": 64}'], 0, "lint",
     "tasks tasks[].task tasks[].path tasks[].usable tasks[].verdict tasks[].shapes tasks[].left_out tasks[].kill_rate tasks[].equivalent tasks[].findings"),
    (["describe", REFERENCE], 0, "cli",
     "task dims inputs outputs ops guards cost task.name task.inputs task.scalars task.outputs task.dims task.precision task.notes task.hash "
     "inputs[].name inputs[].dtype inputs[].shape inputs[].extents cost.flops cost.tensor_flops cost.read_bytes cost.write_bytes "
     "cost.gathered_bytes cost.intensity"),
    (["bench", MODULE, *BENCH], 3, "clock",
     "verdict gate dims work candidate rivals environment trust certifies notes quick certified replay_seeded deterministic estimate seconds candidate.name "
     "candidate.kind seconds.prepare seconds.gate seconds.timing seconds.baselines seconds.calibration seconds.turnaround"),
    (["import", os.path.join(ROOT, "tests", "optimize", "foreign", "softmax", "solve.cu"), "--input", "x:fp32[B,D]", "--input", "y:fp32[B,D]"], 0, "import",
     "file launcher module problems notes task_options"),
    (["import", os.path.join(ROOT, "tests", "optimize", "foreign", "softmax", "solve.cu")], 2, "import",
     "file launcher module problems notes task_options problems[].line problems[].column problems[].message problems[].hint"),
    (["screen", os.path.join(ROOT, "examples")], 0, "eval", "counts files files[].name files[].path files[].scope files[].reader files[].reason files[].ops"),
    (["catalog"], 0, "catalog",
     "methods metrics methods[].id methods[].axis methods[].priority methods[].title methods[].features methods[].targets methods[].gain "
     "methods[].trigger methods[].skip methods[].needs methods[].conflicts methods[].supersedes methods[].effect methods[].sass "
     "methods[].sanitizer methods[].knobs methods[].expressible methods[].experimental methods[].guidance metrics[].id metrics[].title "
     "metrics[].unit metrics[].better metrics[].ncu metrics[].labels metrics[].vgpu"),
    (["profile", MODULE, "--reference", REFERENCE, *VGPU, *DIMS], 0, "profile",
     "module task verdict us measured evidence plan task.name task.hash evidence.dims evidence.target evidence.compiler evidence.methods "
     "evidence.work evidence.floor evidence.rates_of evidence.counted_at evidence.scale evidence.counters evidence.no_counters evidence.report "
     "evidence.kernel evidence.metrics evidence.notes evidence.launches evidence.roofline evidence.no_sass plan.methods plan.unknown"),
    (["roofline", MODULE, "--reference", REFERENCE, *VGPU, *DIMS], 0, "profile", "module task verdict us measured evidence"),
    (["doctor"], 0, "cli", "host compiler models gpu tools looked_at host.system host.cores host.available_bytes host.cache_folder models.problem models.providers"),
    (["version"], 0, "cli", "version"),
    (["help", "run"], 0, "cli", "text commands"),
    (["runs"], 0, "cli", "root runs"),
    (["run", "nothing.cu"], 2, "cli", "error error.blame error.message"),
    (["verify"], 2, "cli", "error error.blame error.message"),
    (["lint", "--seeds", "x", REFERENCE], 2, "cli", "error error.blame error.message"),
    (["calibrate"], 3, "cli", "error error.blame error.message"),
]

def optimising():
    """A run up to its first closed iteration, by hand; rows of what every step prints."""
    environment = {"KERNELWRIGHT_LIBCUDA": "/nonexistent/libcuda.so.1"}
    words = ["--ref", REFERENCE, *VGPU, "--cross-check", "never", "--dims", '{"B": 64, "D": 64}', "--out", h.path("optimize")]
    made = h.run("optimize", "setup", MODULE, *words, "--json", env=environment)
    run = json.loads(made.stdout).get("run_dir", "")
    h.run("optimize", "open-iter", "--run-dir", run, env=environment)
    os.makedirs(os.path.join(run, "iterv1/branches/b1"), exist_ok=True)
    with open(os.path.join(run, "iterv1/methods.json"), "w") as file:
        file.write('{"iter": 1, "methods": []}')
    with open(os.path.join(run, "iterv1/branches/b1/kernel.cu"), "w") as file:
        file.write(open(MODULE).read().replace("THREADS in 128, 256", "THREADS in 256, 128"))
    at = ["--run-dir", run]
    return [
        (["optimize", "setup", MODULE, *words], 0, "optimize",
         "run_dir state env baseline_ms measured noise_threshold_pct roofline early_stop next_step roofline.delta_compute roofline.axis_budget"),
        (["optimize", "preflight", MODULE, *words], 0, "optimize", "baseline ref errors warnings"),
        (["optimize", "validate-methods", *at], 0, "optimize", "iter methods errors refusals warnings"),
        (["optimize", "roofline", *at], 0, "optimize", "iter roofline metrics counters no_counters"),
        (["optimize", "branch", *at], 0, "optimize",
         "iter status parent champion branches frontier total_branches valid_branches next_step branches[].branch_index branches[].branch "
         "branches[].kernel branches[].passed branches[].verdict branches[].ms branches[].measured branches[].speedup branches[].error"),
        (["optimize", "ablate", *at], 0, "optimize", "iter champion_ms measured noise_threshold_pct attributions next_step"),
        (["optimize", "sass", *at], 0, "optimize", "iter kernel target available note checks next_step"),
        (["optimize", "close-iter", *at], 0, "optimize",
         "iter status adopted champion methods best_file best_metric_ms roofline early_stop next_step"),
        (["optimize", "open-iter", *at], 0, "optimize",
         "run_dir iter iteration_dir input branches inherited_methods roofline plan early_stop next_step plan.methods plan.standings"),
        (["optimize", "summary", *at], 0, "optimize", "run_dir phase summary"),
        (["optimize", "finalize", *at, "--force"], 0, "optimize",
         "run_dir summary best_file baseline_ms best_metric_ms measured speedup headline effective_methods ineffective_methods "
         "implementation_failed_methods unverified_methods history"),
        (["optimize", "state", *at], 0, "optimize",
         "schema_version phase iter retries run_dir created_at baseline_file baseline_file_original ref_file dims best_file best_metric_ms "
         "best_metric_is_measured best_ncu_rep speedup headline iterations_total ncu_num branches noise_threshold_pct minimum_pct noise proposer "
         "machine task target measures forced frozen baseline best champion stamps overridden bans selected_methods effective_methods "
         "ineffective_methods implementation_failed_methods unverified_methods history roofline_history frontier env revision next_step "
         "history[].iter history[].status history[].adopted"),
        (["optimize", "close-iter", *at], 2, "cli", "error error.blame error.message"),
    ]


ROWS += optimising()
if h.run("doctor", "--has", "nvdisasm").returncode == 0 and compiler != "clang":
    ROWS.append((["sass", MODULE, *DIMS, "--compiler", compiler], 0, "profile",
                 "module target compiler kernels notes kernels[].name kernels[].symbol kernels[].facts"))


def flat(document):
    for key, value in document.items():
        yield key
        below = value[0] if isinstance(value, list) and value else value
        if isinstance(below, dict):
            for name in below:
                yield "%s%s.%s" % (key, "[]" if isinstance(value, list) else "", name)


def documented(name):
    with open(os.path.join(ROOT, "docs", name + ".md"), encoding="utf-8") as file:
        text = file.read()
    blocks = re.findall(r"```(.*?)```", text, re.S)
    quoted = re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.S))
    return set(re.findall(r"\w+", " ".join(blocks + quoted)))


for words, code, page, keys in ROWS:
    name = words[0] + (" (exit %d)" % code if code else "")
    done = h.run(*words, "--json", env={"KERNELWRIGHT_LIBCUDA": "/nonexistent/libcuda.so.1"})
    h.check(done.returncode == code, "%s: expected exit %d" % (name, code), done)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        h.check(False, name + " prints no JSON", done)
        continue
    keys = set(keys.split())
    found = set(flat(document))
    h.check(EVERY <= found and document["exit_code"] == code and document["command"] == words[0], name + ": what every document has", done)
    top = {key for key in found if "." not in key} - EVERY
    h.check(keys <= found, "%s: promised and not there: %s" % (name, sorted(keys - found)))
    h.check(top <= keys, "%s: new keys, add them here and to docs/%s.md: %s" % (name, page, sorted(top - keys)))
    unsaid = {key for key in keys if re.split(r"\W+", key)[-1] not in documented(page)}
    h.check(not unsaid, "%s: docs/%s.md does not name %s" % (name, page, sorted(unsaid)))
h.finish()
