// The table of options: one row has the name, type, range, default, help and the text for agents.
// So parser, help, documents, agents' tools and the library always agree. A general row serves
// every command that has no row of its own. A command has its own row if the type, range, default
// or text for agents differs. Only different wording is in commands.txt.
// One table per command would be easier to read alone, but would repeat most rows. The cost: a row
// with an `of` list must be updated when a command is renamed.
#include <algorithm>
#include <iterator>

#include "core/text.h"
#include "options/option.h"

namespace kw::options {
namespace {

constexpr int64_t kLeastMilliseconds = 10;  // no process starts in less
constexpr Type kFlag{Kind::Flag}, kText{Kind::Text}, kId{Kind::Id}, kRun{Kind::Run},
    kDuration{Kind::Duration}, kSeconds{Kind::Seconds, kLeastMilliseconds}, kSwitch{Kind::Switch},
    kDims{Kind::Dims}, kPairs{Kind::Pairs}, kInputs{Kind::Inputs}, kTexts{Kind::Texts},
    kModule{Kind::Module}, kReference{Kind::Reference}, kFile{Kind::File}, kPath{Kind::Path},
    kPlace{Kind::Place}, kFolder{Kind::Folder};
constexpr Type whole(int64_t low, int64_t high) { return {Kind::Whole, low, high}; }
constexpr Type number(int64_t low, int64_t high) { return {Kind::Number, low, high}; }
constexpr Type choice(const char* names) { return {Kind::Choice, 0, 0, names}; }
constexpr Type choices(const char* names, bool repeats = false) {
  return {Kind::Choices, 0, 0, names, repeats};
}

constexpr Agent kNotForAgents{};
constexpr Agent agent(const char* about, double low = 0, double high = 0, const char* name = "",
                      const char* fallback = "") {
  return {about, low, high, name, fallback};
}
constexpr Option row(const char* name, const char* value, Type type, const char* fallback,
                     const char* about, Agent agents = kNotForAgents, const char* of = "") {
  return {name, value, type, fallback, about, agents, of, {}};
}

constexpr int64_t kMostShown = 1000000;
constexpr Type kCount = whole(-1000000, 1000000);  // kernelwright checks the sensible range
constexpr double kMostSeed = 9007199254740991;     // the largest that JSON keeps exactly
constexpr const char* kDevices = "auto,gpu,vgpu";
constexpr const char* kFamilies =
    "normal,spikes,offset,uniform,probe,heavy,sorted,denormal,equal,zeros,special,ties,mixed_zeros,"
    "constants,extremes,magnitudes,scaled_weights,mix,structured,immediates";
constexpr const char* kBaselines =
    "eager,compile,max-autotune-no-cudagraphs,reduce-overhead,max-autotune";
constexpr const char* kNoneOrBaselines =
    "none,eager,compile,max-autotune-no-cudagraphs,reduce-overhead,max-autotune";
constexpr Agent kDeviceAgent{
    "auto: a GPU if there is one; vgpu: the virtual GPU with every check on"};
constexpr Agent kTargetAgent{"compile for this target, e.g. sm_90a"};
constexpr Agent kSeedAgent{
    "draw inputs from this seed; such a result is repeatable and never certified", 0, kMostSeed};

constexpr Option kOptions[] = {
    // What is asked.
    row("--reference", "REF", kReference, "",
        "a Python file (a function, a KernelBench model) or a task folder",
        agent("what it must compute: a Python file with a PyTorch function or model, or a task "
              "folder"))
        .anew("reference"),
    row("--reference", "REF", kReference, "", "judge both against this first",
        agent("judge both against this PyTorch reference first"), "compare"),
    row("--reference", "REF", kReference, "",
        "what it computes: a Python file or a task folder; gives the tensors' shapes",
        agent("what it computes; gives the tensors' shapes"), "import"),
    row("--reference", "REF", kReference, "", "where the reference is now",
        agent("where the reference is now"), "resume tune")
        .anew("reference"),
    row("--reference", "REF", kPath, "",
        "a Python file, FILE.py:NAME for one function of it, or a task folder",
        agent("what it must compute: a Python file or a task folder"), "optimize"),
    row("--ref", "REF", kPath, "", "same as --reference"),
    row("--baseline", "KERNEL", kFile, "",
        "the kernel to optimise, if it is not given as an argument",
        agent("the kernel to make faster: a kernel module, or a .cu that can become one")),
    row("--function", "NAME", kId, "", "function or class of the file to use",
        agent("function or class of the reference to use"))
        .kept("function"),
    row("--function", "NAME", kId, "", "show only kernels with this text in their name",
        agent("show only this function"), "sass"),
    row("--backward", "", kFlag, "",
        "make the gradients the task: same as NAME.backward, or backward alone")
        .kept("function"),
    row("--backward", "", kFlag, "",
        "replace every task by its gradients with respect to inputs and parameters", kNotForAgents,
        "eval"),
    row("--prompt", "TEXT", kText, "",
        "request in plain English: dtypes, axis, weights, latency or throughput, GPU; words that "
        "are not understood are reported",
        agent("request in plain English, in addition to the reference"))
        .kept("prompt"),
    row("--prompt-file", "FILE", kFile, "", "read the prompt from a file").kept("prompt"),
    row("--input", "SPEC", kTexts, "",
        "describe an input that the file does not describe: x:fp16[B,D] or eps=1e-5 (repeatable)",
        agent("inputs the reference's file does not describe: \"x:fp16[B,D]\" or \"eps=1e-5\"", 0,
              0, "inputs"))
        .kept("inputs"),
    row("--input", "NAME=SOURCE", kInputs, "",
        "an .npy file, or FAMILY[:SEED[:LOW..HIGH]] (repeatable); families: normal, uniform, "
        "heavy, spikes, offset, denormal, equal, sorted, zeros, special, ones, iota; LOW..HIGH "
        "bounds integers",
        agent("per input an .npy file, or FAMILY[:SEED[:LOW..HIGH]] such as normal:3 or "
              "uniform:1:0..4095",
              0, 0, "inputs"),
        "run"),
    row("--dim", "NAME=N", kPairs, "",
        "shape to optimise for (repeatable; default: the task's benchmark shape)")
        .kept("dims"),
    row("--dims", "JSON", kDims, "", "several dims at once: --dims '{\"B\": 4096, \"D\": 1024}'",
        agent("the shape, e.g. {\"B\": 4096, \"D\": 1024}; default: the task's own"))
        .kept("dims"),
    row("--dims", "JSON", kDims, "", "several dims at once: --dims '{\"B\": 4096, \"D\": 1024}'",
        agent("values of the module's dims, e.g. {\"B\": 4096, \"D\": 1024}"), "run check sass"),
    row("--elements", "N", whole(1, int64_t{1} << 40), "",
        "shape to optimise for, as the number of elements of the largest input, with equal dims",
        agent("shape to optimise for, as the number of elements of the largest input", 1, 1e12))
        .kept("elements"),
    row("--precision", "LIST", choices("tf32,flush,deterministic"), "",
        "tf32, flush, deterministic", agent("what the task allows or demands in addition"))
        .kept("precision"),
    row("--unconfined", "KIND", choices("compiler,parser,recorder,torch,gpu", true), "",
        "start processes of this kind without walls where this machine cannot confine them: "
        "compiler, parser, recorder, torch or gpu (repeatable); verdicts record it")
        .anew(),
    row("--require", "LIST", choices("deterministic,batch-invariant"), "",
        "refuse kernels without these properties: deterministic (the same bits in every run), "
        "batch-invariant (a row has the same bits in every batch)",
        agent("refuse kernels that are not deterministic or not batch-invariant")),
    row("--tune", "NAME=N", kPairs, "",
        "value of a tunable (repeatable; default: the first that fits)",
        agent("values of tunables; default: the first that fits", 0, 0, "tunes")),
    row("--scalar", "NAME=X", kPairs, "", "value of a scalar (repeatable; default: the module's)",
        agent("values of the module's scalars", 0, 0, "scalars")),
    row("--scalar", "NAME=V", kPairs, "", "value of a scalar (repeatable)", kNotForAgents, "sass"),
    row("--absent", "NAME", kTexts, "", "omit an optional input (repeatable)",
        agent("optional inputs to omit")),
    row("--family", "NAME", choice(kFamilies), "",
        "use only this input family: normal, spikes, offset, uniform, probe, heavy, sorted, "
        "denormal, equal, zeros, special, ties, mixed_zeros, constants, extremes, magnitudes, "
        "scaled_weights, mix, structured, immediates",
        agent("use only this input family")),
    row("--output", "DIR", kPlace, "", "write each output to DIR/NAME.npy"),
    row("--zero-outputs", "", kFlag, "",
        "clear the outputs before the call, if callers of the launcher clear them",
        agent("clear the outputs before the call, if callers of the launcher clear them")),
    row("--suite", "NAME|PATH", kText, "internal",
        "suite to run: internal (default), extended, kernelbench, robust or ops; or a folder of "
        "KernelBench files, task folders or robust-kbench folders"),
    row("--only", "LIST", kText, "",
        "names and patterns of tasks, separated by commas: 'gelu_*,topk_fp32'"),
    // How long, how many.
    row("--time", "DURATION", kDuration, "60s",
        "search time: 60s, 500ms, 2m (default 60s); certification is extra",
        agent("search time: 60s, 500ms, 2m"))
        .anew("seconds"),
    row("--time", "DURATION", kDuration, "", "time limit: 60s, 500ms, 2m (default: no limit)",
        agent("time limit: 60s, 500ms, 2m"), "evolve")
        .anew("seconds"),
    row("--time", "DURATION", kDuration, "", "search time from now", agent("search time from now"),
        "resume tune")
        .anew("seconds"),
    row("--time", "", kFlag, "", "gpu: time the launches", kNotForAgents, "run"),
    row("--seconds", "N", whole(1, 86400), "60",
        "time for one task (default 60); checks that were not done are listed"),
    row("--candidates", "N", whole(1, 1000000), "",
        "try at most N candidates (default: 12 without a GPU, no limit with one)",
        agent("try at most this many candidates", 1, 1e6))
        .anew("candidates"),
    row("--candidates", "N", whole(1, 1000000), "",
        "try at most N candidates, earlier ones included",
        agent("try at most N candidates, earlier ones included", 1, 1e6), "resume tune")
        .anew("candidates"),
    row("--candidates", "N", whole(1, 1 << 30), "", "try at most N candidates per task",
        kNotForAgents, "eval")
        .kept("candidates"),
    row("--goal", "SHARE", number(0, 1000000000), "0.95",
        "stop at this fraction of the floor (default 0.95)",
        agent("stop at this fraction of the floor", 0, 1))
        .kept("goal"),
    row("--goal", "SHARE", number(0, 1000000000), "",
        "stop at this fraction of the floor (default: none)", kNotForAgents, "evolve")
        .kept("goal"),
    row("--goal", "SHARE", number(0, 1000000000), "0.95",
        "stop at this fraction of the floor (default 0.95)", kNotForAgents, "eval")
        .kept("goal"),
    row("--perf-target", "X", number(0, 1000000000), "1.0",
        "required speedup over the best baseline; a slower kernel is shipped with a warning "
        "(default 1.0)",
        agent("required speedup over the best baseline", 0, 1000))
        .kept("perf_target"),
    row("--perf-target", "X", number(0, 1000000), "1.0",
        "required speedup over the best baseline (default 1.0)", kNotForAgents, "eval")
        .kept("perf_target"),
    row("--iterations", "N", whole(1, 1000), "3", "number of iterations (default 3)",
        agent("number of iterations", 1, 100)),
    row("--branches", "N", whole(1, 32), "4", "kernels per iteration (default 4)",
        agent("kernels per iteration", 1, 32)),
    row("--ncu-num", "N", whole(1, 100), "5", "metrics shown per axis (default 5)",
        agent("metrics shown per axis", 1, 100)),
    row("--noise", "auto|PCT", kText, "auto",
        "smallest difference that counts, in percent; auto: the smallest that the clock can "
        "detect, which is also the minimum for PCT"),
    row("--noise-threshold-pct", "PCT", number(0, 100), "", "same as --noise"),
    row("--generations", "N", kCount, "10", "number of generations (default 10)",
        agent("number of generations (default 10)", 1, 10000))
        .anew("evolve.generations"),
    row("--generations", "N", whole(0, 1000), "4",
        "number of generations (default 4; 0: measure only)", kNotForAgents, "tune-verifiers")
        .anew(),
    row("--proposals", "N", kCount, "8", "proposals per generation (default 8)",
        agent("proposals per generation (default 8)", 1, 1024))
        .kept("evolve.proposals"),
    row("--hardware", "N", kCount, "", "proposals judged per generation (default 4)",
        agent("proposals judged per generation (default 4)", 1, 1024))
        .kept("evolve.hardware"),
    row("--islands", "N", kCount, "1", "populations that rarely exchange kernels (default 1)",
        agent("populations that rarely exchange kernels", 1, 64))
        .kept("evolve.islands"),
    row("--mode", "MODE", choice("train,eval"), "",
        "eval: modules of the reference are in eval mode, as after .eval(); train: as written "
        "(default)",
        agent("eval: modules of the reference are in eval mode, so dropout keeps every element"))
        .kept("mode"),
    row("--mode", "MODE", Type{Kind::Choice, 0, 0, "translate,optimize,auto,eval,train", true},
        "auto",
        "translate (until the first right kernel), optimize (from a generated kernel), or auto "
        "(default); eval and train as for verify (repeatable)",
        agent("translate: until the first right kernel; optimize: from a generated kernel; eval: "
              "the reference's modules are in eval mode"),
        "evolve")
        .kept("evolve.mode"),
    row("--population", "N", whole(1, 100), "3", "prompts per generation (default 3)"),
    row("--sample", "N", whole(4, 100000), "32",
        "modules of each part of the corpus: training, guard, held out (default 32)"),
    row("--seeds", "N", whole(2, 64), "3", "sets of random inputs per shape (default 3)",
        agent("sets of random inputs per shape", 2, 64)),
    row("--jobs", "N", whole(1, 256), "1", "tasks run in parallel without a GPU (default 1)"),
    row("--limit", "N", whole(1, 100000), "64",
        "with --all-tunes: compile at most N assignments (default 64)",
        agent("with all_tunes: compile at most N assignments", 1, 4096), "check"),
    row("--limit", "N", whole(0, kMostShown), "20",
        "show at most N candidates, best first (default 20)",
        agent("show at most N candidates, best first", 1, 1000), "inspect"),
    row("--limit", "N", whole(1, kMostShown), "", "list only the newest N", kNotForAgents, "runs"),
    row("--limit", "N", whole(1, INT64_MAX), "", "run at most N tasks", kNotForAgents, "eval"),
    row("--keep", "N", whole(0, kMostShown), "", "never remove the newest N"),
    // Where and how.
    row("--device", "KIND", choice(kDevices), "auto",
        "auto (a GPU if there is one), gpu, or vgpu (default auto)", kDeviceAgent)
        .anew("device"),
    row("--device", "KIND", choice(kDevices), "", "auto, gpu or vgpu (default: as before)",
        kDeviceAgent, "resume")
        .anew("device"),
    row("--device", "DEVICE", choice(kDevices), "auto",
        "auto (default), gpu or vgpu; without a GPU all times are estimates", kDeviceAgent,
        "optimize"),
    row("--target", "SM", kId, "", "compile for this target, e.g. sm_90a (default: the device's)",
        kTargetAgent),
    row("--target", "SM", kId, "auto", "compile for this target: sm_XX or auto", kTargetAgent,
        "synthesize evolve eval")
        .kept("target"),
    row("--target", "SM", kId, "sm_90", "compile for this target (default sm_90)", kTargetAgent,
        "check sass"),
    row("--compiler", "NAME", choice("nvrtc,nvcc,clang"), "",
        "nvrtc, nvcc or clang (default: the first found, in this order)",
        agent("default: the first found"))
        .kept("compiler"),
    row("--threads", "N", whole(1, 1024), "", "host threads (default: all cores)").anew("threads"),
    row("--timeout", "SECONDS", kSeconds, "60",
        "time limit of each compile and each run (default 60)",
        agent("time limit of each compile and each run, in seconds", 0.1, 3600))
        .anew("timeout_seconds"),
    row("--budget-seconds", "SECONDS", kSeconds, "60",
        "time for benchmark shapes uncut and for shapes that the module suggests (default 60)",
        agent("time for benchmark shapes uncut and for shapes that the module suggests, in seconds",
              0.1, 3600))
        .kept("budget_seconds"),
    row("--seed", "N", whole(0, INT64_MAX), "",
        "draw inputs from this seed; such a result is repeatable and never certified", kSeedAgent)
        .kept("seed"),
    row("--seed", "N", whole(0, INT64_MAX), "0",
        "seed of the inputs without an --input (default 0)", kSeedAgent, "run"),
    row("--seed", "N", whole(0, INT64_MAX), "0",
        "seed of the random choice of tasks and modules (default 0)", kNotForAgents,
        "tune-verifiers"),
    row("--seed", "N", whole(0, INT64_MAX), "",
        "seed of the order of proposals; inputs are always fresh",
        agent("seed of the order of proposals; inputs are always fresh", 0, kMostSeed), "evolve")
        .kept("evolve.seed"),
    row("--quick", "", kFlag, "",
        "time the winner with one process and few samples; never certified",
        agent("one process and few samples: for screening, never certified"))
        .kept("quick"),
    row("--cross-check", "WHEN", choice("auto,always,never"), "auto",
        "also evaluate the reference with PyTorch: auto, always or never (as for verify)",
        agent("also evaluate the reference with PyTorch; this runs the reference's Python "
              "(--allow-python)"))
        .kept("cross_check"),
    row("--versus", "LIST", choices(kNoneOrBaselines), "",
        "baselines, separated by commas: eager, compile, max-autotune-no-cudagraphs, "
        "reduce-overhead, max-autotune, py:module.function, or none (default: the first three)",
        agent("PyTorch baselines; they run the reference's Python (--allow-python)"))
        .kept("baselines"),
    row("--versus", "LIST", choices(kBaselines, true), "",
        "what to compare with, separated by commas: OTHER.cu, eager, compile, "
        "max-autotune-no-cudagraphs, reduce-overhead, max-autotune,\npy:module.function",
        agent(
            "PyTorch baselines to compare with; they run the reference's Python (--allow-python)"),
        "bench"),
    row("--include", "DIR", kTexts, "",
        "folder of headers for a candidate with host code, e.g. CUTLASS's (repeatable)"),
    row("--launcher", "NAME", kId, "", "host function to use, if the candidate has several"),
    row("--launcher", "NAME", kId, "",
        "host function of FILE to import (default: the extern \"C\" function that launches)",
        agent("host function to import (default: the one that launches)"), "import"),
    row("--counters", "", kFlag, "",
        "vgpu: count instructions, bytes, sectors, conflicts per launch and line",
        agent("count instructions, bytes, sectors and conflicts per launch")),
    row("--check-order", "", kFlag, "",
        "vgpu: run again in another order of blocks and warps, and compare",
        agent("run again in another order of blocks and warps, and compare")),
    row("--all-tunes", "", kFlag, "",
        "compile every assignment of the tunables, not only the first",
        agent("compile every assignment of the tunables, not only the first")),
    row("--kill-rate", "", kFlag, "", "also judge imposters in the task's cells; each must fail",
        agent("also judge imposters in the task's cells")),
    row("--explain", "", kFlag, "", "show the result of every stage and every cell",
        agent("show the result of every stage and every cell")),
    row("--sarif", "FILE", kPlace, "", "also write the findings as SARIF 2.1.0"),
    row("--ncu", "FILE", kFile, "",
        "hardware counters from a profile of another machine: the CSV that\n'ncu --csv --page raw "
        "--print-units base' prints, or a .ncu-rep",
        agent("an .ncu-rep or CSV report of Nsight Compute to read metrics from")),
    row("--report", "FILE", kPlace, "", "store the profiler's own report in FILE (.ncu-rep)"),
    row("--profiler-time", "D", kDuration, "120s",
        "time limit of each start of the profiler: 120s, 5m (default 120s)"),
    row("--against", "OTHER", kModule, "", "compare with another module",
        agent("compare with another module"), "sass"),
    row("--against", "DIR", kPath, "",
        "compare with an earlier evaluation, or with its results.csv; a change for the worse "
        "beyond the noise of both is a regression",
        kNotForAgents, "eval"),
    row("--method", "ID", kId, "", "check whether the kernel uses this method of the catalogue",
        agent("check whether this method of the catalogue is visible in machine code")),
    row("--raw", "", kFlag, "", "print every instruction", agent("also return the disassembly")),
    // Runs and folders.
    row("--out", "DIR", kPlace, "", "folder of the runs (as for runs)",
        agent("folder of the runs (default: the user's data folder)"))
        .anew(),
    row("--out", "MODULE", kPlace, "", "file to write the module to (default: standard output)",
        kNotForAgents, "import"),
    row("--out", "DIR", kPlace, "", "folder in which the run's folder is created",
        agent("folder in which the run's folder is created (default: beside the baseline)"),
        "optimize"),
    row("--resume", "RUN", kRun, "",
        "continue a stopped evolution: folder, id, beginning of an id, or 'latest'; --generations, "
        "--ensemble, --budget and --time may be given again",
        kNotForAgents, "evolve"),
    row("--resume", "DIR", kFolder, "",
        "continue in such a folder; --generations, --budget and --second-model may be given again",
        kNotForAgents, "tune-verifiers"),
    row("--resume", "", kFlag, "",
        "continue in the same folder: passed tasks are kept, failed tasks are tried again",
        kNotForAgents, "eval"),
    row("--run-dir", "DIR", kFolder, "", "folder of the run",
        agent("folder of the run, as optimize_setup returned it")),
    row("--iter", "N", whole(1, 100000), "",
        "number of the iteration; only checked against the open one",
        agent("number of the iteration (default: the next)", 0, 100000)),
    row("--force", "", kFlag, "",
        "open an iteration near the peak or beyond the planned number; finalize while one is open",
        agent("open an iteration near the peak, or beyond the planned number")),
    row("--skip-validation", "", kFlag, "",
        "race branches although the methods were refused; this is recorded"),
    row("--restore", "", kFlag, "", "with state: restore state.json from the journal"),
    row("--compare", "", kFlag, "",
        "run four evolutions, each with one more of these on; write a table, and a page with their "
        "curves (comparison.html in the last run's folder)"),
    row("--status", "NAME", kText, "",
        "list only these: passed, failed, interrupted, running or damaged"),
    row("--candidate", "ID", kId, "",
        "show one candidate in full: lineage, verdict, compile log, text",
        agent("show one candidate in full: lineage, verdict, compile log, text")),
    row("--events", "", kFlag, "", "show all events in order"),
    row("--all", "", kFlag, "", "check all runs and the index", kNotForAgents),
    row("--repair", "", kFlag, "",
        "mend what can be mended: move results that cannot be used to aside/, remove unfinished "
        "files, take rights of other users, rebuild the index",
        kNotForAgents),
    row("--older-than", "AGE", kText, "", "remove runs created longer ago than this: 12h, 30d, 8w"),
    row("--delete", "", kFlag, "", "remove the runs; without it they are only listed"),
    row("--no-store-reference", "", kFlag, "", "store no copy of the reference's source in the run")
        .kept("models.store_reference"),
    // Language models.
    row("--proposer", "NAME", choice("builtin,llm,hybrid"), "",
        "builtin (no model), llm (a model alone), hybrid (builtin first, then a model improves on "
        "it); default: hybrid where a key is set, else builtin",
        agent("builtin needs no model; llm and hybrid spend money", 0, 0, "", "builtin"))
        .kept("proposer"),
    row("--proposer", "WHO", choice("builtin,llm,agent"), "builtin",
        "builtin (default): code generation writes the branches;\nllm: a language model writes "
        "them; agent: only sets up, and reports what to do next",
        kNotForAgents, "optimize"),
    row("--model-id", "ID", kText, "",
        "model of all stages: PROVIDER:MODEL (default anthropic:claude-sonnet-4-6)",
        agent("PROVIDER:MODEL, for llm and hybrid; command:PROGRAM only where the server has "
              "--allow-commands"))
        .kept("models.model_id"),
    row("--ensemble", "ARMS", kText, "",
        "list of MODEL[:TEMPERATURE][:EFFORT], separated by commas, or a file with one per line "
        "(default: the default model at low, medium and high effort)",
        agent("MODEL[:TEMPERATURE][:EFFORT], separated by commas, for llm and hybrid; "
              "command:PROGRAM only where the server has --allow-commands"))
        .anew("evolve.ensemble"),
    row("--in-flight", "N", kCount, "4", "requests to models at the same time (default 4)")
        .kept("evolve.in_flight"),
    row("--in-flight", "N", whole(1, 256), "4", "requests to models at the same time (default 4)",
        kNotForAgents, "tune-verifiers")
        .anew(),
    row("--stage-model", "S=ID", kTexts, "",
        "model of one stage: interview, codegen, correctness, performance, polish (repeatable)")
        .kept("models.stage_models"),
    row("--retries", "STAGE=N", kPairs, "",
        "attempts of one stage (default 1, 3, 3, 3, 1; repeatable); escalated_codegen and "
        "escalated_performance: attempts of the stronger model (default 1, 1)")
        .kept("models.retries"),
    row("--budget", "USD", number(0, 1000000), "2",
        "cost limit (default 2); a request that could exceed it is not sent",
        agent("cost limit of the models, in US dollars", 0, 1000))
        .anew("models.budget_usd"),
    row("--budget", "USD", number(0, 1000000), "",
        "cost limit of the models, over all sessions of the run", kNotForAgents, "resume")
        .anew("models.budget_usd"),
    row("--max-calls", "N", whole(0, int64_t{1} << 40), "",
        "send at most N requests to models, over all sessions; repeated attempts count",
        kNotForAgents)
        .anew("models.max_calls"),
    row("--max-tokens", "N", whole(0, int64_t{1} << 50), "",
        "limit the tokens of models, over all sessions; a request that could exceed it is not sent",
        kNotForAgents)
        .anew("models.max_tokens"),
    row("--budget", "SIZE", kText, "",
        "remove the oldest runs until the rest has at most this size: 500MB, 10GiB", kNotForAgents,
        "gc"),
    row("--escalate", "", kFlag, "",
        "ask a stronger model once when all attempts of codegen or performance failed")
        .kept("models.escalate"),
    row("--escalation-model", "ID", kText, "",
        "the stronger model (default anthropic:claude-opus-4-7)")
        .kept("models.escalation_id"),
    row("--ask", "", kFlag, "", "answer the model's questions about the task on the terminal"),
    row("--yes", "", kFlag, "",
        "accept the cost; without it, eval estimates the cost of more than 5 tasks and asks"),
    row("--record", "FILE", kPlace, "", "record every exchange with a model in FILE").anew(),
    row("--replay", "FILE", kFile, "", "repeat recorded exchanges, without network or key").anew(),
    row("--no-transcripts", "", kFlag, "", "store no prompts or replies in the run's folder")
        .kept("models.transcripts"),
    row("--allow-commands", "", kFlag, "",
        "with --resume: run programs that the run names as models (command:PROGRAM)")
        .anew(),
    row("--allow-commands", "", kFlag, "",
        "let clients name programs as models (command:PROGRAM); they run as you", kNotForAgents,
        "mcp"),
    // Reviewers: models that read kernels before hardware runs them.
    row("--verifiers", "STATE", kSwitch, "on",
        "on: measure the best estimates first; off: measure in the order of proposals (default on)")
        .kept("verifiers evolve.verifiers"),
    row("--shape-info", "STATE", kSwitch, "on", "show the shapes to models")
        .kept("evolve.shape_info"),
    row("--profile-feedback", "STATE", kSwitch, "on",
        "show models what limits a kernel, and sort niches by it")
        .kept("evolve.profile_feedback"),
    row("--verifier-model", "ID", kText, "",
        "let three reviewers that use this model check the kernels of models before the judge")
        .kept("readers.model evolve.readers.model"),
    row("--verifier-prompts", "DIR", kText, "",
        "prompts of the reviewers: a folder of tune-verifiers, or 'tuned' for the best so far "
        "(default: the shipped ones)")
        .kept("readers.prompts evolve.readers.prompts"),
    row("--verifier-reflect", "", kFlag, "", "ask each reviewer a second time")
        .kept("readers.reflect evolve.readers.reflect"),
    row("--verifier-reject", "", kFlag, "",
        "do not judge a module that all reviewers reject with a confidence of 0.9 or more")
        .kept("readers.reject evolve.readers.reject"),
    row("--corpus", "NAME", kText, "shipped",
        "modules with known verdicts: shipped (default), store (also those of past runs), or a "
        "file"),
    row("--runs", "DIR", kFolder, "", "folder of past runs (default: the user's data folder)")
        .anew(),
    row("--verifier", "NAME", choice("compile,memory,numerics,all"), "all",
        "reviewer to tune: compile, memory, numerics, or all (default)"),
    row("--model", "ID", kText, "",
        "model that votes and rewrites prompts: PROVIDER:MODEL (default "
        "anthropic:claude-sonnet-4-6)")
        .anew(),
    row("--second-model", "ID", kText, "", "another model, which only scores the result").anew(),
    row("--reflect", "", kFlag, "",
        "ask about each module twice; the second time, show the first answer"),
    row("--no-install", "", kFlag, "", "do not copy better prompts to the user's config folder")
        .anew(),
    // The program itself.
    row("--root", "DIR", kTexts, "",
        "folder whose files clients may name (repeatable; default: the current folder)"),
    row("--read-only", "", kFlag, "", "offer only tools that write nothing"),
    row("--allow-python", "", kFlag, "",
        "run the Python of clients' references and candidates, confined, where PyTorch must read, "
        "check or time them; without it their Python is read and never run"),
    row("--allow-python", "", kFlag, "",
        "for a folder: also execute the Python files that only PyTorch can read, confined",
        kNotForAgents, "describe lint screen"),
    row("--no-python", "", kFlag, "",
        "execute no Python: a reference that only PyTorch can read is refused; the cross-check and "
        "PyTorch's baselines are left out")
        .anew(),
    row("--allow-host-code", "", kFlag, "",
        "run the host code of clients' CUDA files, confined, if it cannot be imported"),
    row("--http", "PORT", whole(0, 65535), "",
        "serve over HTTP on 127.0.0.1 instead (0: any free port), until Ctrl-C; clients need the "
        "token that is printed on standard error"),
    row("--token-file", "FILE", kPlace, "",
        "for --http: read the token from this file; if it is missing, create it, readable by its "
        "owner alone"),
    row("--has", "NAME", kId, "",
        "check only this tool: exit 0 if it is found, 1 if not; names as in the table"),
    row("--looked", "", kFlag, "", "also list every place that was searched"),
    row("--json", "", kFlag, "", "print the report as JSON"),
    row("--help", "", kFlag, "", "print this text"),
};

}  // namespace

std::span<const Option> all_options() { return kOptions; }

const Option* find_option(const std::string& command, const std::string& name) {
  const Option* general = nullptr;
  for (const Option& row : kOptions) {
    if (name != row.name) continue;
    if (*row.of == '\0') {
      general = &row;
    } else if (const auto own = split(row.of, ' '); std::ranges::count(own, command) > 0) {
      return &row;
    }
  }
  return general;
}

std::vector<std::string> choices_of(const Option& option) {
  return *option.type.choices == '\0' ? std::vector<std::string>{}
                                      : split(option.type.choices, ',');
}

std::string agent_name(const Option& option) {
  if (*option.agent.name != '\0') return option.agent.name;
  std::string name = std::string(option.name).substr(2);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace kw::options
