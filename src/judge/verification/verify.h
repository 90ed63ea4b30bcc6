// The story of `verify`: a module's text and a task in, a verdict out. Parses, plans shapes, draws
// the pool, runs the gate, and measures how well the task itself tells right from wrong.
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
#include "single_run/run.h"
#include "task/task.h"
#include "verification/cross_check.h"

namespace kw::verification {

struct VerifyRequest {
  std::string module_path, reference_path;  // as typed
  std::vector<std::string> task_options;    // as typed: what a repro line must repeat
  std::map<std::string, int64_t> dims;      // only this shape; missing ones as the task's benchmark
  std::map<std::string, int64_t> tunes;
  std::string family;            // only this one; "" = all that mean something
  std::optional<uint64_t> seed;  // replayable and never certified; none: fresh entropy
  std::string target;            // "" = the device's
  double timeout_seconds = 60;
  int threads = 0;
  bool kill_rate = false;  // also send the imposters through the task's cells
};

using CrossChecking = std::function<Result<CrossCheckReport>(const task::Task&)>;

/// What the story works with. All but `gpu` and `cross_check` must be there.
struct VerifyTools {
  ports::Compiler* compiler = nullptr;
  ports::Device* virtual_gpu = nullptr;
  ports::Device* gpu = nullptr;
  ports::Oracle* oracle = nullptr;
  /// Whether PyTorch reads the task's reference as we do; asked once per VerifyPools.
  CrossChecking cross_check = {};
};

struct VerifyReport {
  std::string module_name, module_text;
  std::string trust = "module";  // "foreign": its launches were recorded from host code
  std::string task_name, task_hash;
  std::vector<std::string> task_notes;
  std::optional<CrossCheckReport> cross_check;
  gate::GateReport gate;
  std::string truths_by;  // exec::Oracle::made_by, of all candidates so far
  std::optional<gate::KillReport> imposters;

  /// The candidate passed, and where asked, every imposter that applies was stopped.
  bool ok() const;
};

/// Inputs and truths of one task, made when first needed and shared by all candidates judged with
/// them. The requests of these must name the same dims, family and seed.
struct VerifyPools {
  std::unique_ptr<task::Task> task;  // at the shapes that are judged; pools point to it
  std::optional<CrossCheckReport> cross_check;
  std::optional<gate::Pool> small, large;  // for the virtual GPU, for the GPU
};

/// The task with only the shape that was asked for.
Result<task::Task> with_dims(task::Task task, const std::map<std::string, int64_t>& dims);

/// VerifyRequest::task_options of a task that was asked for like this.
std::vector<std::string> task_options(const std::vector<std::string>& inputs,
                                      const std::string& function);

/// Plans and seeds of what verify_module() will need; the sets themselves are made when asked for.
Status open_pools(const task::Task& task, const VerifyRequest& request, const VerifyTools& tools,
                  VerifyPools& pools);

/// Text that is no module is a rejected candidate, not an Error. Without `pools`, fresh ones.
Result<VerifyReport> verify_module(const std::string& module_text, const task::Task& task,
                                   const VerifyRequest& request, const VerifyTools& tools,
                                   const single_run::Progress& progress = {},
                                   VerifyPools* pools = nullptr);

/// Whether there is such an input family; the Error names those there are.
Status check_family(const std::string& name);

/// The same for every door; the schema is in docs/verify.md.
Json to_json(const VerifyReport& report);

}  // namespace kw::verification
