// Tools that look at tasks and kernels, one row each. Models read the descriptions: they say when
// to call, what is returned and what it means. A row names a command of the command line and the
// options that agents may use; types and texts of these come from the table of options. So a tool
// accepts the same values as its command. Code per tool would allow special cases, but would repeat
// the command line. The cost: a row with many fields is hard to read; tool.h explains them.
#include "mcp/tool_rows.h"

namespace kw::mcp {
namespace {

using K = Kind;
const ToolArgument kModule{"module", K::Module, "",
                           "the kernel module: CUDA device code with '//!' launch-plan lines",
                           true};
const ToolArgument kReference{"reference", K::Reference, "",
                              "a Python file with a PyTorch function or model, or a task folder",
                              true};
constexpr const char* kDescribeWords[] = {"describe"};
constexpr Member kDescribeMembers[] = {
    {"task", "object",
     "name, inputs with dtype and shape, scalars, dims, outputs, precision, notes"},
    {"dims", "object", "the shape of ops and cost"},
    {"ops", "array", "the operations, in order"},
    {"cost", "object", "flops and bytes that no kernel can avoid"}};
constexpr const char* kImportWords[] = {"import"};
constexpr Member kImportMembers[] = {
    {"module", "string,null", "the kernel module's text"},
    {"problems", "array", "what a module cannot express: line, message, hint"}};

constexpr const char* kLintWords[] = {"lint"};
constexpr Member kLintMembers[] = {
    {"tasks", "array", "per task: usable, findings (rule, severity, message), shapes, kill_rate"}};
constexpr const char* kCheckWords[] = {"check"};
constexpr Member kCheckMembers[] = {
    {"groups", "array", "launch groups: guard, line, an example of dims that reach it"},
    {"variants", "array",
     "per compile: ok, or what failed with messages; launches with registers, shared memory, "
     "spills, occupancy"}};
constexpr const char* kRunWords[] = {"run", "--device=vgpu"};
constexpr Member kRunMembers[] = {
    {"status", "string", "completed, stopped, faulted, refused …"},
    {"findings", "array",
     "races, out-of-bounds, undefined data …: kind, message, hint, line, thread"},
    {"outputs", "array", "per output: shape, min, max, mean, nans, infinities, hash"}};
constexpr const char* kVerifyWords[] = {"verify"};
constexpr Member kVerifyMembers[] = {
    {"verdict", "string", "passed, wrong, rejected, crashed or unknown"},
    {"stage", "string,null", "the stage that stopped it"},
    {"reason", "string,null", "the reason in words"},
    {"repro", "string,array,object,null", "how to reproduce it"}};
constexpr const char* kBenchWords[] = {"bench"};
constexpr Member kBenchMembers[] = {
    {"verdict", "string,object,null",
     "the judge's verdict; a module that did not pass is not timed"},
    {"candidate", "object,null", "times with a 95 % interval, distance to the floor"},
    {"rivals", "array", "the same for each baseline, and the speedup"},
    {"estimate", "object,null", "without a GPU: an estimate from the virtual GPU's counters"},
    {"certified", "boolean,null", "measured in full, with fresh random inputs"}};
constexpr const char* kCompareWords[] = {"compare"};
constexpr Member kProfileMembers[] = {
    {"measured", "boolean", "false: the times are estimates"},
    {"us", "number,null", "the time of a call"},
    {"evidence", "object", "metrics with their sources, roofline, bottleneck, budget per axis"},
    {"plan", "object", "methods that the evidence supports, and what could not be decided"}};
constexpr Member kSassMembers[] = {
    {"kernels", "array", "per kernel: facts (loads by width, spills, barriers …), opcodes"},
    {"notes", "array", "remarks"}};
constexpr const char* kProfileWords[] = {"profile"};
constexpr const char* kRooflineWords[] = {"roofline"};
constexpr const char* kSassWords[] = {"sass"};
constexpr const char* kCatalogWords[] = {"catalog"};
// For one method all members are returned; for the whole list only those needed to choose.
constexpr const char* kCatalogBulk =
    "metrics,methods/guidance,methods/knobs,methods/targets,methods/features,methods/sass,methods/"
    "sanitizer,methods/skip,methods/trigger,methods/needs,methods/conflicts,methods/supersedes";
constexpr Member kCatalogMembers[] = {{"method", "object", "with an id: the method in full"},
                                      {"methods", "array", "otherwise: the list of methods"}};
constexpr const char* kDoctorWords[] = {"doctor"};
constexpr Member kDoctorMembers[] = {
    {"gpu", "object,null", "the GPU, or null"},
    {"compiler", "string,object,null", "the compiler that will be used, or null"},
    {"tools", "object",
     "per tool: state, version, what does not work without it, how to install it"}};

}  // namespace

std::vector<AgentTool> kernel_tools() {
  return {
      {"describe_task", "Describe a task",
       "Describes a PyTorch reference: tensors, dims, dtypes, shapes, operations, cost. Call it "
       "first; it is fast.",
       kDescribeWords, arguments("describe", {kReference}, "function mode inputs dims"),
       kDescribeMembers},
      {"import_kernel", "Import a CUDA file",
       "Converts a .cu with host code to a kernel module: launches become plan lines, device code "
       "stays unchanged. Lists what a module cannot express, with its line.",
       kImportWords,
       arguments("import",
                 {{"source", K::Module, "", "a CUDA file that launches its kernels itself", true}},
                 "reference launcher zero_outputs function mode inputs dims"),
       kImportMembers},
      {"lint_task", "Check a task",
       "Finds degenerate tasks: outputs that ignore inputs, dead operations, imposters that would "
       "pass, shapes too small to time.",
       kLintWords, arguments("lint", {kReference}, "function mode inputs dims seeds"),
       kLintMembers},
      {"check_kernel", "Compile a kernel",
       "Parses a kernel module and compiles every launch group: errors with lines, registers, "
       "spills, occupancy. No kernel runs.",
       kCheckWords,
       arguments("check", {kModule},
                 "dims tunes scalars absent all_tunes limit target compiler timeout"),
       kCheckMembers},
      {"run_virtual_gpu", "Run on the virtual GPU",
       "Runs a kernel module on the CPU with every check on: races, out-of-bounds, undefined data, "
       "barriers, each with line and thread. Needs no GPU; measures no time.",
       kRunWords,
       arguments(
           "run", {kModule},
           "dims tunes scalars absent inputs counters check_order seed target compiler timeout",
           {kFull}),
       kRunMembers, false, "", "lines"},
      {"verify_kernel", "Verify a kernel",
       "Judges a kernel module against a PyTorch reference: shapes, input families, secret seeds, "
       "a bound derived from the reference. For WRONG it returns the first wrong element and a "
       "command that reproduces it.",
       kVerifyWords,
       arguments("verify", {kModule},
                 "reference! function mode inputs dims tunes family require kill_rate explain seed "
                 "cross_check device target compiler timeout",
                 {kBackground, kWaitSeconds}),
       kVerifyMembers},
      {"bench_kernel", "Time a kernel",
       "Judges a kernel module, then times it: cold L2, changing contents, every timed output "
       "checked. Without a GPU it returns an estimate, labelled as an estimate.",
       kBenchWords,
       arguments("bench", {kModule},
                 "reference! function mode inputs dims tunes versus quick seed cross_check device "
                 "target compiler timeout",
                 {kBackground, kWaitSeconds, kFull}),
       kBenchMembers, false, "", "samples"},
      {"compare_kernels",
       "Compare two kernels",
       "Times two kernel modules in pairs on a GPU: FASTER, SAME, SLOWER or AMBIGUOUS, with an "
       "interval and the smallest difference that could be detected.",
       kCompareWords,
       arguments("compare",
                 {{"module_a", K::Module, "", "the first kernel module", true},
                  {"module_b", K::Module, "", "the second", true}},
                 "reference function mode inputs dims tunes scalars absent quick seed cross_check "
                 "device target compiler timeout",
                 {kBackground, kWaitSeconds, kFull}),
       {},
       false,
       "",
       "samples"},
      {"profile_kernel", "Profile a kernel",
       "Returns metrics of a kernel from the virtual GPU's counters, static facts and, if there is "
       "a GPU, Nsight Compute; the roofline, the bottleneck, and the methods of the catalogue that "
       "the evidence supports.",
       kProfileWords,
       arguments("profile", {kModule},
                 "reference! function mode inputs dims tunes ncu device target compiler timeout",
                 {kBackground, kWaitSeconds}),
       kProfileMembers},
      {"roofline", "Roofline of a kernel",
       "Returns the least time the task can take here, how far compute, memory and latency are "
       "from their ceilings, and the resulting budget of methods per axis.",
       kRooflineWords,
       arguments("roofline", {kModule},
                 "reference! function mode inputs dims tunes ncu device target compiler timeout",
                 {kBackground, kWaitSeconds}),
       kProfileMembers},
      {"sass", "Inspect machine code",
       "Disassembles a kernel module: opcodes, loads by width, spills, barriers, tensor "
       "operations, loops; what differs from another module; whether a method of the catalogue is "
       "visible.",
       kSassWords,
       arguments("sass", {kModule},
                 "function against method raw dims tunes target compiler timeout"),
       kSassMembers},
      {"catalog", "Optimisation methods",
       "Returns the known optimisation methods: when the evidence supports one, what it needs, its "
       "effect on the numbers, how it shows in machine code, how to apply it.",
       kCatalogWords,
       arguments("catalog",
                 {{"id", K::Id, "",
                   "a method (memory.vectorized_access) or an axis (compute, memory, latency); "
                   "default: all"}},
                 "", {kFull}),
       kCatalogMembers, false, "", kCatalogBulk},
      {"doctor",
       "Tools of this machine",
       "Lists compilers, GPU, profilers and Python packages: what was found, what is missing, what "
       "does not work without it, how to install it.",
       kDoctorWords,
       {},
       kDoctorMembers,
       false,
       "",
       "looked_at"},
  };
}

}  // namespace kw::mcp
