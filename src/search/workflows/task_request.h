// What jobs of several commands ask alike: which task, and how its kernels are judged.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kw::timing {
struct BenchOpenRequest;
}

namespace kw::verification {
struct VerifyRequest;
}

namespace kw::workflows {

struct TaskRequest {
  std::string reference;                // file or task folder
  std::string function;                 // of the file; "": the only one
  std::string mode;                     // "eval": its modules are in eval mode
  std::vector<std::string> inputs;      // "x:fp16[B,D]", "eps=1e-5"
  std::map<std::string, int64_t> dims;  // timed shape, instead of the reference's own
  std::string device = "auto", target = "auto", compiler;
  std::string precision;         // "tf32,deterministic": what is allowed and required
  std::optional<uint64_t> seed;  // repeats order and inputs; never certified
  std::string cross_check = "auto";
  bool quick = false;           // times in one process, with few samples; never certified
  double timeout_seconds = 60;  // for each compile and each run
  double budget_seconds = 60;   // for the winner's benchmark shapes uncut
  int threads = 0;
  std::string version;  // of this program, for the record

  /// "" when the device decides.
  std::string named_target() const { return target == "auto" ? "" : target; }
};

/// How its candidates are verified.
verification::VerifyRequest verify_request(const TaskRequest& request);
/// The machine that it needs.
timing::BenchOpenRequest machine_request(const TaskRequest& request);

}  // namespace kw::workflows
