// The tools, one row each. Descriptions are read by language models: they say when to call, what
// comes back and what it means.
#include "mcp/tool.h"

namespace kw::mcp {
namespace {

using K = Kind;
constexpr const char* kDevices = "auto,gpu,vgpu";
constexpr const char* kCompilers = "nvrtc,nvcc,clang";
constexpr const char* kFamilies =
    "normal,spikes,offset,uniform,probe,heavy,sorted,denormal,equal,zeros,special";
constexpr const char* kBaselines =
    "eager,compile,max-autotune-no-cudagraphs,reduce-overhead,max-autotune";
constexpr double kMostSeed = 9007199254740991;
constexpr double kHour = 3600;

constexpr Argument kModule[] = {{"module", K::Module, "",
                                 "the kernel module: CUDA device code with '//!' launch-plan lines",
                                 true}};
constexpr Argument kReference[] = {
    {"reference", K::Reference, "--reference",
     "what it must compute: a Python file with a PyTorch function or model, or a task folder",
     true}};
constexpr Argument kReferenceWord[] = {
    {"reference", K::Reference, "",
     "a Python file with a PyTorch function or model, or a task folder", true}};
constexpr Argument kOptionalReference[] = {
    {"reference", K::Reference, "--reference", "judge both against this PyTorch reference first"}};
constexpr Argument kTask[] = {
    {"function", K::Id, "--function", "which function or class of the reference"},
    {"inputs", K::Texts, "--input",
     "inputs the reference's file does not describe: \"x:fp16[B,D]\" or \"eps=1e-5\""},
    {"dims", K::Dims, "--dims",
     "the shape, e.g. {\"B\": 4096, \"D\": 1024}; default: the task's own"}};
constexpr Argument kShape[] = {
    {"dims", K::Dims, "--dims", "values of the module's dims, e.g. {\"B\": 4096, \"D\": 1024}"}};
constexpr Argument kTunes[] = {
    {"tunes", K::Pairs, "--tune", "values of tunables; default: the first that fits"}};
constexpr Argument kBound[] = {{"scalars", K::Pairs, "--scalar", "values of the module's scalars"},
                               {"absent", K::Texts, "--absent", "optional inputs to leave out"}};
constexpr Argument kBuild[] = {
    {"target", K::Id, "--target", "compile for this target, e.g. sm_90a"},
    {"compiler", K::Choice, "--compiler", "default: the first found", false, kCompilers},
    {"timeout", K::Number, "--timeout", "seconds for each compile and each run", false, "", 0.1,
     kHour}};
constexpr Argument kDevice[] = {
    {"device", K::Choice, "--device",
     "auto: a GPU if there is one; vgpu: the virtual GPU, with every check on", false, kDevices}};
constexpr Argument kSeed[] = {{"seed", K::Whole, "--seed",
                               "draw inputs from this seed: repeatable, and so never certified",
                               false, "", 0, kMostSeed}};
constexpr Argument kCrossCheck[] = {
    {"cross_check", K::Choice, "--cross-check",
     "let PyTorch evaluate the reference too; this runs the reference's Python", false,
     "auto,always,never"}};
constexpr Argument kQuick[] = {
    {"quick", K::Flag, "--quick", "one process and few samples: for screening, never certified"}};
constexpr Argument kLasting[] = {
    {"background", K::Waiting, "",
     "give a job handle at once; ask job_status and job_result later"},
    {"wait_seconds", K::Waiting, "", "give a job handle if it takes longer than this", false, "", 0,
     86400}};
constexpr Argument kFull[] = {
    {"full", K::Waiting, "", "leave nothing out of the result: raw samples, counters by line"}};
constexpr Argument kOut[] = {
    {"out", K::Place, "--out", "the folder that holds the runs; default: the user's data folder"}};

constexpr const char* kDescribeWords[] = {"describe"};
constexpr Member kDescribeMembers[] = {
    {"task", "object",
     "name, inputs with dtype and shape, scalars, dims, outputs, precision, notes"},
    {"dims", "object", "the shape that ops and cost are of"},
    {"ops", "array", "the operations, in order"},
    {"cost", "object", "flops and bytes that no kernel can avoid"}};

constexpr const char* kLintWords[] = {"lint"};
constexpr Argument kLintArguments[] = {
    {"seeds", K::Whole, "--seeds", "draws per shape", false, "", 2, 64}};
constexpr Member kLintMembers[] = {
    {"tasks", "array", "per task: usable, findings (rule, severity, message), shapes, kill_rate"}};

constexpr const char* kCheckWords[] = {"check"};
constexpr Argument kCheckArguments[] = {
    {"all_tunes", K::Flag, "--all-tunes", "every assignment of the tunables, not only the first"},
    {"limit", K::Whole, "--limit", "with all_tunes: at most so many", false, "", 1, 4096}};
constexpr Member kCheckMembers[] = {
    {"groups", "array", "launch groups: guard, line, an example of dims that reach it"},
    {"variants", "array",
     "per compile: ok, or what failed with messages; launches with registers, shared memory, "
     "spills, occupancy"}};

constexpr const char* kRunWords[] = {"run", "--device=vgpu"};
constexpr Argument kRunArguments[] = {
    {"inputs", K::Inputs, "--input",
     "per input an .npy file, or FAMILY[:SEED[:LOW..HIGH]] such as normal:3 or uniform:1:0..4095"},
    {"counters", K::Flag, "--counters",
     "count instructions, bytes, sectors and conflicts per launch"},
    {"check_order", K::Flag, "--check-order",
     "run again in another order of blocks and warps, compare"}};
constexpr Member kRunMembers[] = {
    {"status", "string", "completed, stopped, faulted, refused …"},
    {"findings", "array",
     "races, out-of-bounds, undefined data …: kind, message, hint, line, thread"},
    {"outputs", "array", "per output: shape, min, max, mean, nans, infinities, hash"}};

constexpr const char* kVerifyWords[] = {"verify"};
constexpr Argument kVerifyArguments[] = {
    {"family", K::Choice, "--family", "this input family only", false, kFamilies},
    {"kill_rate", K::Flag, "--kill-rate", "also send imposters through the task's cells"},
    {"explain", K::Flag, "--explain", "what every stage did, and every cell"}};
constexpr Member kVerifyMembers[] = {
    {"verdict", "string", "passed, wrong, rejected, crashed or unknown"},
    {"stage", "string,null", "where it was stopped"},
    {"reason", "string,null", "why, in words"},
    {"repro", "string,array,object,null", "how to see it again"}};

constexpr const char* kBenchWords[] = {"bench"};
constexpr Argument kBenchArguments[] = {
    {"versus", K::Choices, "--versus", "PyTorch baselines to compare with", false, kBaselines}};
constexpr Member kBenchMembers[] = {
    {"verdict", "string,object,null", "how the judge decided; nothing is timed that did not pass"},
    {"candidate", "object,null", "times with a 95 % interval, distance to the floor"},
    {"rivals", "array", "the same for what it was compared with, and the speedup"},
    {"estimate", "object,null", "without a GPU: an estimate from the virtual GPU's counters"},
    {"certified", "boolean,null", "measured in full, with inputs nobody had seen"}};

constexpr const char* kCompareWords[] = {"compare"};
constexpr Argument kCompareArguments[] = {
    {"module_a", K::Module, "", "the first kernel module", true},
    {"module_b", K::Module, "", "the second", true}};

constexpr const char* kProfileWords[] = {"profile"};
constexpr Argument kProfileArguments[] = {
    {"ncu", K::File, "--ncu", "an .ncu-rep or CSV report of Nsight Compute to read metrics from"}};
constexpr const char* kRooflineWords[] = {"roofline"};
constexpr const char* kSassWords[] = {"sass"};
constexpr Argument kSassArguments[] = {
    {"function", K::Id, "--function", "only this function"},
    {"against", K::Module, "--against", "another module, to say what differs"},
    {"method", K::Id, "--method", "a method of the catalogue: is it visible in machine code?"},
    {"raw", K::Flag, "--raw", "the disassembly itself, too"}};

constexpr const char* kCatalogWords[] = {"catalog"};
constexpr Argument kCatalogArguments[] = {
    {"id", K::Id, "",
     "a method (memory.vectorized_access) or an axis (compute, memory, latency); default: all"}};

// Of one method all is told; of all of them, what there is to choose from.
constexpr const char* kCatalogBulk =
    "metrics,methods/guidance,methods/knobs,methods/targets,methods/features,methods/sass,methods/"
    "sanitizer,methods/skip,methods/trigger,methods/needs,methods/conflicts,methods/supersedes";

constexpr const char* kSynthesizeWords[] = {"synthesize"};
constexpr Argument kSynthesizeArguments[] = {
    {"prompt", K::Text, "--prompt", "plain English beside the reference"},
    {"elements", K::Whole, "--elements", "the shape as a number of elements of the largest input",
     false, "", 1, 1e12},
    {"precision", K::Choices, "--precision", "what the task allows or demands beyond its own words",
     false, "tf32,flush,deterministic"},
    {"proposer", K::Choice, "--proposer", "builtin needs no model; llm and hybrid spend money",
     false, "builtin,llm,hybrid", 0, 0, "builtin"},
    {"model_id", K::Text, "--model-id", "PROVIDER:MODEL, for llm and hybrid"},
    {"budget", K::Number, "--budget", "US dollars that models may cost at most", false, "", 0,
     1000},
    {"time", K::Text, "--time", "of searching: 60s, 500ms, 2m"},
    {"candidates", K::Whole, "--candidates", "at most so many", false, "", 1, 1e6},
    {"goal", K::Number, "--goal", "share of the floor that is good enough to stop", false, "", 0,
     1},
    {"perf_target", K::Number, "--perf-target", "times the speed of the best baseline", false, "",
     0, 1000},
    {"versus", K::Choices, "--versus", "PyTorch baselines; default: the first three", false,
     "none,eager,compile,max-autotune-no-cudagraphs,reduce-overhead,max-autotune"}};
constexpr Member kRunReport[] = {{"status", "string,null", "how the run ended"},
                                 {"kernel", "string,object,null", "the kernel that was shipped"}};

constexpr const char* kResumeWords[] = {"resume"};
constexpr Argument kResumeArguments[] = {
    {"run", K::Run, "", "a run's id, the beginning of it, 'latest', or its folder", true},
    {"reference", K::Reference, "--reference", "where the reference is now"},
    {"time", K::Text, "--time", "of searching, from now"},
    {"candidates", K::Whole, "--candidates", "at most so many, those of before included", false, "",
     1, 1e6}};

constexpr const char* kInspectWords[] = {"inspect"};
constexpr Argument kInspectArguments[] = {
    {"run", K::Run, "", "a run's id, the beginning of it, 'latest', or its folder"},
    {"candidate", K::Id, "--candidate",
     "one candidate in full: lineage, verdict, compile log, text"},
    {"limit", K::Whole, "--limit", "at most so many candidates, best first", false, "", 1, 1000}};

constexpr const char* kDoctorWords[] = {"doctor"};
constexpr Member kDoctorMembers[] = {
    {"gpu", "object,null", "the GPU, or null"},
    {"compiler", "string,object,null", "the compiler that will be used, or null"},
    {"tools", "object", "per tool: state, version, what its absence costs, how to get it"}};

constexpr const char* kSetupWords[] = {"optimize", "setup"};
constexpr const char* kAutoWords[] = {"optimize", "--proposer=builtin"};
constexpr Argument kBaseline[] = {
    {"baseline", K::File, "--baseline",
     "the kernel to make faster: a kernel module, or a .cu that can become one", true},
    {"reference", K::Path, "--reference", "what it must compute: a Python file or a task folder",
     true}};
constexpr Argument kSetupArguments[] = {
    {"iterations", K::Whole, "--iterations", "how many iterations are planned", false, "", 1, 100},
    {"branches", K::Whole, "--branches", "kernels per iteration", false, "", 1, 32},
    {"ncu_num", K::Whole, "--ncu-num", "metrics per axis that are shown", false, "", 1, 100},
    {"out", K::Place, "--out", "where the run's folder is made; default: beside the baseline"}};
constexpr Argument kRunFolder[] = {
    {"run_dir", K::Folder, "--run-dir", "the run's folder, as optimize_setup gave it", true}};
constexpr Argument kIteration[] = {{"iter", K::Whole, "--iter",
                                    "the iteration; default: the one that is due", false, "", 0,
                                    100000}};
constexpr const char* kOpenWords[] = {"optimize", "open-iter"};
constexpr Argument kForce[] = {
    {"force", K::Flag, "--force", "open one near the peak, or beyond the planned number"}};
constexpr const char* kValidateWords[] = {"optimize", "validate-methods"};
constexpr const char* kStateWords[] = {"optimize", "state"};
constexpr const char* kCloseWords[] = {"optimize", "close-iter"};
constexpr const char* kFinalizeWords[] = {"optimize", "finalize"};

constexpr Argument kJob[] = {{"job", K::Id, "", "the handle; default: all jobs of this server"}};
constexpr Argument kThisJob[] = {{"job", K::Id, "", "the handle", true}};
constexpr Argument kWait[] = {
    {"wait_seconds", K::Waiting, "", "wait for its end at most so long", false, "", 0, 86400}};
constexpr Member kJobMembers[] = {{"job", "string", "the handle"},
                                  {"state", "string", "queued, running, done, failed or cancelled"},
                                  {"jobs", "array", "without a handle: all of them"}};

}  // namespace

const std::vector<Tool>& all_tools() {
  static const std::vector<Tool> kTools = {
      {"describe_task",
       "Describe a task",
       "What a PyTorch reference means to the engine: tensors, dims, dtypes, shapes, operations, "
       "cost. Call it first; it is quick and runs nothing.",
       kDescribeWords,
       {kReferenceWord, kTask},
       kDescribeMembers,
       Lane::Quick},
      {"lint_task",
       "Is a task worth a kernel?",
       "Finds degenerate tasks: outputs that ignore inputs, dead operations, imposters that would "
       "pass, shapes too small to time.",
       kLintWords,
       {kReferenceWord, kTask, kLintArguments},
       kLintMembers,
       Lane::Cpu},
      {"check_kernel",
       "Compile a kernel",
       "Parses a kernel module and compiles every launch group: errors with lines, registers, "
       "spills, occupancy. Runs nothing.",
       kCheckWords,
       {kModule, kShape, kTunes, kBound, kCheckArguments, kBuild},
       kCheckMembers,
       Lane::Cpu},
      {"run_virtual_gpu",
       "Run on the virtual GPU",
       "Runs a kernel module on the CPU with every check on: races, out-of-bounds, undefined data, "
       "barriers, each with line and thread. Needs no GPU; says nothing about time.",
       kRunWords,
       {kModule, kShape, kTunes, kBound, kRunArguments, kSeed, kBuild, kFull},
       kRunMembers,
       Lane::Cpu,
       false,
       false,
       "",
       "lines"},
      {"verify_kernel",
       "Is a kernel right?",
       "Judges a kernel module against a PyTorch reference: shapes, input families, secret seeds, "
       "a bound derived from the reference. WRONG comes with the first bad element and a way to "
       "see it again.",
       kVerifyWords,
       {kModule, kReference, kTask, kTunes, kVerifyArguments, kSeed, kCrossCheck, kDevice, kBuild,
        kLasting},
       kVerifyMembers,
       Lane::Gpu,
       true},
      {"bench_kernel",
       "How fast is a kernel?",
       "Judges a kernel module, then times it: cold L2, changing contents, every timed output "
       "checked. Without a GPU it gives an estimate, labelled as one, and never a time.",
       kBenchWords,
       {kModule, kReference, kTask, kTunes, kBenchArguments, kQuick, kSeed, kCrossCheck, kDevice,
        kBuild, kLasting, kFull},
       kBenchMembers,
       Lane::Gpu,
       true,
       false,
       "",
       "samples"},
      {"compare_kernels",
       "Which kernel is faster?",
       "Times two kernel modules in pairs on a GPU: FASTER, SAME, SLOWER or AMBIGUOUS, with an "
       "interval and the least difference that would have been seen.",
       kCompareWords,
       {kCompareArguments, kOptionalReference, kTask, kTunes, kBound, kQuick, kSeed, kCrossCheck,
        kDevice, kBuild, kLasting, kFull},
       {},
       Lane::Gpu,
       true,
       false,
       "",
       "samples"},
      {"profile_kernel",
       "Where does the time go?",
       "Metrics of a kernel from the virtual GPU's counters, static facts and, where there is a "
       "GPU, Nsight Compute; the roofline, the bottleneck, and which methods of the catalogue the "
       "evidence speaks for.",
       kProfileWords,
       {kModule, kReference, kTask, kTunes, kProfileArguments, kDevice, kBuild, kLasting},
       {},
       Lane::Gpu,
       true},
      {"roofline",
       "How far from the floor?",
       "The least time the task can take here, how far compute, memory and latency are from their "
       "ceilings, and the budget of methods per axis that follows.",
       kRooflineWords,
       {kModule, kReference, kTask, kTunes, kProfileArguments, kDevice, kBuild, kLasting},
       {},
       Lane::Gpu,
       true},
      {"sass",
       "Look at machine code",
       "Disassembles a kernel module: opcodes, loads by width, spills, barriers, tensor "
       "operations, loops; what differs from another module; whether a method of the catalogue is "
       "visible.",
       kSassWords,
       {kModule, kSassArguments, kShape, kTunes, kBuild},
       {},
       Lane::Cpu},
      {"catalog",
       "Ways to make kernels faster",
       "The known optimisation methods: when the evidence speaks for one, what it needs, what it "
       "does to the numbers, how it shows in machine code, how to do it.",
       kCatalogWords,
       {kCatalogArguments, kFull},
       {},
       Lane::Quick,
       false,
       false,
       "",
       kCatalogBulk},
      {"synthesize",
       "Write a kernel",
       "Writes a kernel module for a PyTorch reference with no model: designs from its graph, "
       "tunables searched, every candidate judged, the winner certified. Minutes; use background.",
       kSynthesizeWords,
       {kReference, kTask, kSynthesizeArguments, kQuick, kSeed, kCrossCheck, kOut, kDevice, kBuild,
        kLasting, kFull},
       kRunReport,
       Lane::Gpu,
       true,
       true,
       "the run's folder is kept: call resume_run, or 'kernelwright resume RUN'",
       "samples"},
      {"resume_run",
       "Go on with a run",
       "Goes on with a synthesis that was stopped or short of time; what was judged is not judged "
       "again.",
       kResumeWords,
       {kResumeArguments, kOut, kDevice, kLasting, kFull},
       kRunReport,
       Lane::Gpu,
       true,
       true,
       "the run's folder is kept: call resume_run again",
       "samples"},
      {"optimize_setup",
       "Begin to optimise a kernel",
       "Makes a run folder for an existing kernel: verifies and times the baseline, freezes it and "
       "the reference, calibrates noise. Then optimize_open.",
       kSetupWords,
       {kBaseline, kTask, kSetupArguments, kQuick, kSeed, kCrossCheck, kDevice, kBuild, kLasting},
       {},
       Lane::Gpu,
       true,
       true,
       "call optimize_setup again: a folder that was half made is not used"},
      {"optimize_open",
       "Open an iteration",
       "Profiles the best kernel so far and writes roofline.json, the metrics and a template of "
       "analysis.md into the iteration's folder. Then write methods.json and branches/b1/kernel.cu "
       "… and call optimize_close.",
       kOpenWords,
       {kRunFolder, kIteration, kForce, kLasting},
       {},
       Lane::Gpu,
       true,
       true,
       "the folder says where it stands: call optimize_open again"},
      {"optimize_close",
       "Close an iteration",
       "Checks methods.json, verifies and races the branches, ablates each method, looks for it in "
       "machine code and classifies it. Says what to repair when every branch failed.",
       kCloseWords,
       {kRunFolder, kIteration, kLasting},
       {},
       Lane::Gpu,
       true,
       true,
       "the folder says where it stands: call optimize_close again"},
      {"optimize_finalize",
       "End an optimisation",
       "Writes summary.md: headline, timeline, drift, methods by class.",
       kFinalizeWords,
       {kRunFolder, kLasting},
       {},
       Lane::Gpu,
       true,
       true,
       "call optimize_finalize again"},
      {"optimize_validate",
       "May these methods be tried?",
       "Checks methods.json of the open iteration before anything is compiled, and says everything "
       "that speaks against it at once.",
       kValidateWords,
       {kRunFolder, kIteration},
       {},
       Lane::Quick},
      {"optimize_state",
       "Where an optimisation stands",
       "Phase, iteration, best kernel, methods by class, and what to do next. Changes nothing.",
       kStateWords,
       {kRunFolder},
       {},
       Lane::Quick},
      {"optimize_auto",
       "Optimise a kernel without a model",
       "The whole loop with branches that the engine writes itself: designs of code generation and "
       "tunables. Minutes; use background. Say what it could not apply.",
       kAutoWords,
       {kBaseline, kTask, kSetupArguments, kQuick, kSeed, kCrossCheck, kDevice, kBuild, kLasting},
       {},
       Lane::Gpu,
       true,
       true,
       "the run's folder is kept: go on with optimize_open, or 'kernelwright optimize --run-dir "
       "DIR'"},
      {"inspect_run",
       "Look at a run",
       "What a synthesis run holds: result, candidates, why the others were stopped.",
       kInspectWords,
       {kInspectArguments, kOut, kFull},
       {},
       Lane::Quick,
       false,
       false,
       "",
       "samples,events"},
      {"doctor",
       "What this machine has",
       "Compilers, GPU, profilers, Python packages: what is there, what is missing, what that "
       "costs, how to get it.",
       kDoctorWords,
       {},
       kDoctorMembers,
       Lane::Quick,
       false,
       false,
       "",
       "looked_at"},
      {"job_status",
       "How is a job?",
       "State and last progress of one job, or of all.",
       {},
       {kJob},
       kJobMembers,
       Lane::Quick,
       false,
       false,
       "",
       "",
       Own::Status},
      {"job_result",
       "Result of a job",
       "What the tool would have given had it been waited for; as long as it runs, its state.",
       {},
       {kThisJob, kWait, kFull},
       {},
       Lane::Quick,
       false,
       false,
       "",
       "",
       Own::Result},
      {"job_cancel",
       "Stop a job",
       "Stops a job; what it has written to disk by then stays.",
       {},
       {kThisJob},
       kJobMembers,
       Lane::Quick,
       false,
       false,
       "",
       "",
       Own::Cancel},
  };
  return kTools;
}

}  // namespace kw::mcp
