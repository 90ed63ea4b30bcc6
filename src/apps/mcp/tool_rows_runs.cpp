// Tools whose work stays: syntheses, optimisations, and the jobs behind long calls.
#include "mcp/tool_rows.h"

namespace kw::mcp {
namespace {

using K = Kind;
constexpr Argument kOut[] = {
    {"out", K::Place, "--out", "the folder that holds the runs; default: the user's data folder"}};
constexpr Member kInspectMembers[] = {{"run", "object", "id, folder, status, best time"},
                                      {"kernel", "string,null", "the file it shipped"},
                                      {"candidates", "array", "best first"}};
constexpr const char* kSynthesizeWords[] = {"synthesize"};
constexpr Argument kSynthesizeArguments[] = {
    {"prompt", K::Text, "--prompt", "plain English beside the reference"},
    {"elements", K::Whole, "--elements", "the shape as a number of elements of the largest input",
     false, "", 1, 1e12},
    {"precision", K::Choices, "--precision", "what the task allows or demands beyond its own words",
     false, "tf32,flush,deterministic"},
    {"proposer", K::Choice, "--proposer", "builtin needs no model; llm and hybrid spend money",
     false, "builtin,llm,hybrid", 0, 0, "builtin"},
    {"model_id", K::Text, "--model-id",
     "PROVIDER:MODEL, for llm and hybrid; command:PROGRAM only where the server has "
     "--allow-commands"},
    {"budget", K::Number, "--budget", "US dollars that models may cost at most", false, "", 0,
     1000},
    {"time", K::Text, "--time", "of searching: 60s, 500ms, 2m"},
    {"candidates", K::Whole, "--candidates", "at most so many", false, "", 1, 1e6},
    {"goal", K::Number, "--goal", "share of the floor that is good enough to stop", false, "", 0,
     1},
    {"perf_target", K::Number, "--perf-target", "times the speed of the best baseline", false, "",
     0, 1000},
    {"versus", K::Choices, "--versus",
     "PyTorch baselines; they run the reference's Python (--allow-python)", false,
     "none,eager,compile,max-autotune-no-cudagraphs,reduce-overhead,max-autotune"}};
constexpr Member kRunReport[] = {
    {"passed", "boolean", "whether a kernel was shipped"},
    {"run_id", "string", "for inspect_run and resume_run"},
    {"artifacts_dir", "string", "the run's folder"},
    {"kernel", "string,null", "the file of the kernel that was shipped"},
    {"measured", "boolean", "false: chosen by estimate, since nothing was timed"},
    {"failure_reason", "string,null", "why there is no kernel"},
    {"performance", "object,null", "time with interval, speedups, distance to the floor"}};
constexpr const char* kEvolveWords[] = {"evolve"};
constexpr Argument kEvolveArguments[] = {
    {"reference", K::Reference, "",
     "what it must compute: a Python file with a PyTorch function or model, or a task folder",
     true},
    {"proposer", K::Choice, "--proposer", "builtin needs no model; llm and hybrid spend money",
     false, "builtin,llm,hybrid", 0, 0, "builtin"},
    {"generations", K::Whole, "--generations", "default 10", false, "", 1, 10000},
    {"proposals", K::Whole, "--proposals", "in each generation; default 8", false, "", 1, 1024},
    {"hardware", K::Whole, "--hardware", "of which so many are judged; default 4", false, "", 1,
     1024},
    {"mode", K::Choice, "--mode", "until the first kernel that is right, or from one on", false,
     "translate,optimize,auto"},
    {"islands", K::Whole, "--islands", "populations that meet only now and then", false, "", 1, 64},
    {"ensemble", K::Text, "--ensemble",
     "MODEL[:TEMPERATURE][:EFFORT], commas between, for llm and hybrid; command:PROGRAM only "
     "where the server has --allow-commands"},
    {"budget", K::Number, "--budget", "US dollars that models may cost at most", false, "", 0,
     1000},
    {"time", K::Text, "--time", "at most: 60s, 500ms, 2m"},
    {"seed", K::Whole, "--seed", "the same order of things; inputs are fresh all the same", false,
     "", 0, kMostSeed},
    {"versus", K::Choices, "--versus",
     "PyTorch baselines; they run the reference's Python (--allow-python)", false,
     "none,eager,compile,max-autotune-no-cudagraphs,reduce-overhead,max-autotune"}};
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
constexpr Member kStepMembers[] = {
    {"run_dir", "string", "the run's folder: for the steps that follow"},
    {"iter", "integer", "the iteration it is about"},
    {"phase", "string", "ready, opened, closed or finalized"},
    {"roofline", "object,null", "gaps and budget per axis, bottleneck"},
    {"plan", "object", "methods the evidence speaks for, in the form of methods.json"},
    {"methods", "array", "of a closed iteration: class and evidence of each"},
    {"best_file", "string", "the best kernel so far"},
    {"measured", "boolean", "false: times are estimates"},
    {"early_stop", "boolean", "true: near the peak, nothing to win"},
    {"next_step", "string", "what to do next"}};
constexpr Member kValidateMembers[] = {{"errors", "array", "the file cannot be used"},
                                       {"refusals", "array", "the gate says no, and why"},
                                       {"warnings", "array", "worth a thought"}};
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

std::vector<Tool> run_tools() {
  return {
      {"synthesize",
       "Write a kernel",
       "Writes a kernel module for a PyTorch reference: designs from its graph, tunables searched, "
       "every candidate judged, the winner certified; no model is asked unless proposer says so. "
       "Minutes; use background.",
       kSynthesizeWords,
       {kReference, kTask, kSynthesizeArguments, kQuick, kSeed, kCrossCheck, kOut, kDevice, kBuild,
        kLasting, kFull},
       kRunReport,
       Lane::Gpu,
       true,
       true,
       "the run's folder is kept: call resume_run, or 'kernelwright resume RUN'",
       "samples"},
      {"evolve",
       "Let kernels evolve",
       "Makes kernels in generations: mutations, crossover and, where models are asked, rewrites "
       "and "
       "repairs; the best of every niche is kept, the winner certified and tried at unseen shapes. "
       "Minutes; use background.",
       kEvolveWords,
       {kEvolveArguments, kTask, kQuick, kCrossCheck, kOut, kDevice, kBuild, kLasting, kFull},
       kRunReport,
       Lane::Gpu,
       true,
       true,
       "the run's folder is kept: call resume_run, or 'kernelwright evolve --resume RUN'",
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
      {"inspect_run",
       "Look at a run",
       "What a synthesis run holds: result, candidates, why the others were stopped.",
       kInspectWords,
       {kInspectArguments, kOut, kFull},
       kInspectMembers,
       Lane::Quick,
       false,
       false,
       "",
       "samples,events"},
      {"optimize_setup",
       "Begin to optimise a kernel",
       "Makes a run folder for an existing kernel: verifies and times the baseline, freezes it and "
       "the reference, calibrates noise. Then optimize_open.",
       kSetupWords,
       {kBaseline, kTask, kSetupArguments, kQuick, kSeed, kCrossCheck, kDevice, kBuild, kLasting},
       kStepMembers,
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
       {kRunFolder, kIteration, kForce, kLasting, kFull},
       kStepMembers,
       Lane::Gpu,
       true,
       true,
       "the folder says where it stands: call optimize_open again",
       "plan/standings"},
      {"optimize_close",
       "Close an iteration",
       "Checks methods.json, verifies and races the branches, ablates each method, looks for it in "
       "machine code and classifies it. Says what to repair when every branch failed.",
       kCloseWords,
       {kRunFolder, kIteration, kLasting},
       kStepMembers,
       Lane::Gpu,
       true,
       true,
       "the folder says where it stands: call optimize_close again"},
      {"optimize_finalize",
       "End an optimisation",
       "Writes summary.md: headline, timeline, drift, methods by class.",
       kFinalizeWords,
       {kRunFolder, kLasting},
       kStepMembers,
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
       kValidateMembers,
       Lane::Quick},
      {"optimize_state",
       "Where an optimisation stands",
       "Phase, iteration, best kernel, methods by class, and what to do next. Changes nothing.",
       kStateWords,
       {kRunFolder},
       kStepMembers,
       Lane::Quick},
      {"optimize_auto",
       "Optimise a kernel without a model",
       "The whole loop with branches that the engine writes itself: designs of code generation and "
       "tunables. Minutes; use background. Say what it could not apply.",
       kAutoWords,
       {kBaseline, kTask, kSetupArguments, kQuick, kSeed, kCrossCheck, kDevice, kBuild, kLasting},
       kStepMembers,
       Lane::Gpu,
       true,
       true,
       "the run's folder is kept: go on with optimize_open, or 'kernelwright optimize --run-dir "
       "DIR'"},
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
}

}  // namespace kw::mcp
