// The `verify` command: a module's text and a task give a verdict. Parses, plans shapes, draws
// inputs, runs the gate, and measures how well the task's cells detect imposters.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "gate/gate.h"
#include "gate/imposters.h"
#include "ports/compiler.h"
#include "ports/device.h"
#include "ports/oracle.h"
#include "single_run/run_module.h"
#include "task/task.h"
#include "verification/cross_check.h"

namespace kw::verification {

struct VerifyRequest {
  std::string module_path, reference_path;  // as the user typed them
  std::vector<std::string> task_options;    // as typed; the repro line must repeat them
  std::map<std::string, int64_t> dims;      // only this shape; missing dims are the benchmark's
  std::map<std::string, int64_t> tunes;
  std::string family;            // only this family; "": all that apply
  std::optional<uint64_t> seed;  // can be replayed, never certified; not set: fresh entropy
  std::string target;            // "": the device's
  double timeout_seconds = 60;
  double budget_seconds = 0;  // gate::GateRequest::budget_seconds
  int threads = 0;
  bool kill_rate = false;  // also run the imposters on the task's cells
};

using CrossChecking = std::function<Result<CrossCheckReport>(const task::Task&)>;

/// The tools of a verification. All but `gpu` and `cross_check` are required.
struct VerifyTools {
  ports::Compiler* compiler = nullptr;
  ports::Device* virtual_gpu = nullptr;
  ports::Device* gpu = nullptr;
  ports::Oracle* oracle = nullptr;
  /// Whether PyTorch reads the task's reference as we do; called once per VerifyPools.
  CrossChecking cross_check = {};
};

struct VerifyReport {
  /// What the verdict is about: a kernel module, or the launches that host code made when it was
  /// recorded.
  const char* certifies() const { return trust == "foreign" ? "recording" : "module"; }

  std::string module_name, module_text;
  std::string trust = "module";  // "foreign": its launches were recorded from host code
  std::string recorded;          // where the recorded launches come from; "" for a module
  std::string task_name, task_hash;
  std::vector<std::string> task_notes;
  std::vector<std::string> compiler_notes;  // ports::Compiler::notes, such as a cache not used
  std::optional<CrossCheckReport> cross_check;
  gate::GateReport gate;
  std::string truths_by;  // ports::Oracle::made_by, for all candidates so far
  std::optional<gate::KillReport> imposters;

  /// The candidate passed, and, if requested, every imposter that applies was detected.
  bool ok() const;
};

/// Inputs and truths of one task, made when first needed and shared by its candidates. All requests
/// must name the same dims, family and seed.
struct VerifyPools {
  std::unique_ptr<task::Task> task;  // at the judged shapes; pools point to it
  std::optional<CrossCheckReport> cross_check;
  std::optional<gate::Pool> small, large;  // for the virtual GPU, for the GPU
};

/// The task with only the requested shape.
Result<task::Task> with_dims(task::Task task, const std::map<std::string, int64_t>& dims);

/// VerifyRequest::task_options for these options of the user.
std::vector<std::string> task_options(const std::vector<std::string>& inputs,
                                      const std::string& function);

/// Plans shapes and seeds for verify_module(). The sets themselves are made when first needed.
Status open_pools(const task::Task& task, const VerifyRequest& request, const VerifyTools& tools,
                  VerifyPools& pools);

/// Text that is not a module is a rejected candidate, not an Error. Without `pools` it makes new
/// ones.
Result<VerifyReport> verify_module(const std::string& module_text, const task::Task& task,
                                   const VerifyRequest& request, const VerifyTools& tools,
                                   const single_run::Progress& progress = {},
                                   VerifyPools* pools = nullptr);

/// Whether this input family exists; the Error lists the families.
Status check_family(const std::string& name);
/// Returns an error for a family that the task excludes: special values where its results need not
/// follow NaN, subnormals where kernels may flush them.
Status check_family_of(const task::Task& task, const std::string& name);

/// The same for every interface; the schema is in docs/verify.md.
Json to_json(const VerifyReport& report);

}  // namespace kw::verification
