// Tools whose results remain: syntheses, optimisations, and the jobs of long calls. They write run
// folders, so a call that is stopped can be continued; each row says how (`kept`). An optimisation
// is split into steps (setup, open, close, finalize) because the model works between them: it
// writes methods and kernels into the folder.
// One long call that asks the model back would need a feature that many clients lack. The cost: the
// model must call the steps in order; the folder records the phase, and a wrong step is refused.
#include "mcp/tool_rows.h"

namespace kw::mcp {
namespace {

using K = Kind;
const ToolArgument kRun{"run", K::Run, "",
                        "a run's id, the beginning of it, 'latest', or its folder"};
const ToolArgument kThisRun{"run", K::Run, "",
                            "a run's id, the beginning of it, 'latest', or its folder", true};
const ToolArgument kReferenceWord{
    "reference", K::Reference, "",
    "the reference: a Python file with a PyTorch function or model, or a task folder", true};
const ToolArgument kJob{"job", K::Id, "", "the handle; default: all jobs of this server"};
const ToolArgument kThisJob{"job", K::Id, "", "the handle", true};
const ToolArgument kWait{"wait_seconds", K::Waiting, "", "seconds to wait for its end",
                         false,          "",         0,  86400};
const std::vector<ToolArgument> kLasting = {kBackground, kWaitSeconds};
const std::vector<ToolArgument> kLastingFull = {kBackground, kWaitSeconds, kFull};
constexpr const char* kSetupOptions =
    "baseline! reference! function mode inputs dims require iterations branches ncu_num out quick "
    "seed "
    "cross_check device target compiler timeout";
constexpr Member kInspectMembers[] = {{"run", "object", "id, folder, status, best time"},
                                      {"kernel", "string,null", "the file it shipped"},
                                      {"candidates", "array", "best first"}};
constexpr const char* kSynthesizeWords[] = {"synthesize"};
constexpr Member kRunReport[] = {
    {"passed", "boolean", "whether a kernel was shipped"},
    {"run_id", "string", "for inspect_run and resume_run"},
    {"artifacts_dir", "string", "the run's folder"},
    {"kernel", "string,null", "the file of the kernel that was shipped"},
    {"measured", "boolean", "false: chosen by estimates"},
    {"failure_reason", "string,null", "why there is no kernel"},
    {"performance", "object,null", "time with interval, speedups, distance to the floor"}};
constexpr const char* kEvolveWords[] = {"evolve"};
constexpr const char* kResumeWords[] = {"resume"};
constexpr const char* kInspectWords[] = {"inspect"};
constexpr const char* kSetupWords[] = {"optimize", "setup"};
constexpr const char* kAutoWords[] = {"optimize", "--proposer=builtin"};
constexpr Member kStepMembers[] = {
    {"run_dir", "string", "the run's folder, for the next steps"},
    {"iter", "integer", "the iteration it is about"},
    {"phase", "string", "ready, opened, closed or finalized"},
    {"roofline", "object,null", "gaps and budget per axis, bottleneck"},
    {"plan", "object", "methods that the evidence supports, in the form of methods.json"},
    {"methods", "array", "of a closed iteration: class and evidence of each"},
    {"best_file", "string", "the best kernel so far"},
    {"measured", "boolean", "false: times are estimates"},
    {"early_stop", "boolean", "true: near the peak; no further speedup is expected"},
    {"next_step", "string", "what to do next"}};
constexpr Member kValidateMembers[] = {{"errors", "array", "the file cannot be used"},
                                       {"refusals", "array", "why the methods are refused"},
                                       {"warnings", "array", "points to consider"}};
constexpr const char* kOpenWords[] = {"optimize", "open-iter"};
constexpr const char* kValidateWords[] = {"optimize", "validate-methods"};
constexpr const char* kStateWords[] = {"optimize", "state"};
constexpr const char* kCloseWords[] = {"optimize", "close-iter"};
constexpr const char* kFinalizeWords[] = {"optimize", "finalize"};
constexpr Member kJobMembers[] = {{"job", "string", "the handle"},
                                  {"state", "string", "queued, running, done, failed or cancelled"},
                                  {"jobs", "array", "without a handle: all of them"}};

}  // namespace

std::vector<AgentTool> run_tools() {
  return {
      {"synthesize", "Write a kernel",
       "Writes a kernel module for a PyTorch reference: generates designs from its graph, searches "
       "their tunables, judges every candidate, certifies the winner. Asks a model only if "
       "proposer says so. Takes minutes; use background.",
       kSynthesizeWords,
       arguments("synthesize", {},
                 "reference! function mode inputs dims prompt elements precision require proposer "
                 "model_id "
                 "budget time candidates goal perf_target versus quick seed cross_check out device "
                 "target compiler timeout",
                 kLastingFull),
       kRunReport, true, "the run's folder is kept: call resume_run, or 'kernelwright resume RUN'",
       "samples"},
      {"evolve", "Evolve kernels",
       "Improves kernels over generations: mutations, crossover and, with models, rewrites and "
       "repairs. Keeps the best of every niche, certifies the winner and times it at unseen "
       "shapes. Takes minutes; use background.",
       kEvolveWords,
       arguments("evolve", {kReferenceWord},
                 "proposer generations proposals hardware mode islands ensemble budget time seed "
                 "versus function inputs dims require quick cross_check out device target compiler "
                 "timeout",
                 kLastingFull),
       kRunReport, true,
       "the run's folder is kept: call resume_run, or 'kernelwright evolve --resume RUN'",
       "samples"},
      {"resume_run", "Continue a run",
       "Continues a synthesis that was stopped or ran out of time. Judged candidates are not "
       "judged again.",
       kResumeWords,
       arguments("resume", {kThisRun}, "reference time candidates out device", kLastingFull),
       kRunReport, true, "the run's folder is kept: call resume_run again", "samples"},
      {"inspect_run", "Inspect a run",
       "Returns a synthesis run: result, candidates, why the others were stopped.", kInspectWords,
       arguments("inspect", {kRun}, "candidate limit out", {kFull}), kInspectMembers, false, "",
       "samples,events"},
      {"optimize_setup", "Start an optimisation",
       "Creates a run folder for an existing kernel: verifies and times the baseline, freezes "
       "baseline and reference, measures the noise. Then call optimize_open.",
       kSetupWords, arguments("optimize", {}, kSetupOptions, kLasting), kStepMembers, true,
       "call optimize_setup again: an incomplete folder is not used"},
      {"optimize_open", "Open an iteration",
       "Profiles the best kernel so far and writes roofline.json, the metrics and a template of "
       "analysis.md into the iteration's folder. Then write methods.json and branches/b1/kernel.cu "
       "… and call optimize_close.",
       kOpenWords, arguments("optimize", {}, "run_dir! iter force", kLastingFull), kStepMembers,
       true, "the folder keeps the state: call optimize_open again", "plan/standings"},
      {"optimize_close", "Close an iteration",
       "Checks methods.json, verifies and races the branches, ablates each method, checks for it "
       "in machine code and classifies it. If every branch failed, reports what to repair.",
       kCloseWords, arguments("optimize", {}, "run_dir! iter", kLasting), kStepMembers, true,
       "the folder keeps the state: call optimize_close again"},
      {"optimize_finalize", "End an optimisation",
       "Writes summary.md: headline, timeline, drift, methods by class.", kFinalizeWords,
       arguments("optimize", {}, "run_dir!", kLasting), kStepMembers, true,
       "call optimize_finalize again"},
      {"optimize_validate", "Check methods",
       "Checks methods.json of the open iteration before anything is compiled, and lists all "
       "objections at once.",
       kValidateWords, arguments("optimize", {}, "run_dir! iter"), kValidateMembers},
      {"optimize_state", "State of an optimisation",
       "Returns phase, iteration, best kernel, methods by class, and what to do next. Changes "
       "nothing.",
       kStateWords, arguments("optimize", {}, "run_dir!"), kStepMembers},
      {"optimize_auto", "Optimise a kernel without a model",
       "Runs the whole loop with branches that kernelwright writes: designs of code generation and "
       "tunables. Takes minutes; use background. Tell the user what it could not apply.",
       kAutoWords, arguments("optimize", {}, kSetupOptions, kLasting), kStepMembers, true,
       "the run's folder is kept: continue with optimize_open, or 'kernelwright optimize --run-dir "
       "DIR'"},
      {"job_status",
       "State of a job",
       "Returns state and last progress of one job, or of all.",
       {},
       {kJob},
       kJobMembers,
       false,
       "",
       "",
       ServerTool::Status},
      {"job_result",
       "Result of a job",
       "Returns the tool's result; while the job runs, its state.",
       {},
       {kThisJob, kWait, kFull},
       {},
       false,
       "",
       "",
       ServerTool::Result},
      {"job_cancel",
       "Stop a job",
       "Stops a job. Files that it has written stay.",
       {},
       {kThisJob},
       kJobMembers,
       false,
       "",
       "",
       ServerTool::Cancel},
  };
}

}  // namespace kw::mcp
