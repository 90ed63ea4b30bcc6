// One bench in progress: the steps of bench.h as methods of one object. Internal.
#pragma once

#include <memory>
#include <vector>

#include "timing/bench.h"

namespace kw::timing {

inline constexpr const char* kAuditRefused = "the audit refused it";

class BenchSession {
 public:
  BenchSession(const task::Task& task, const BenchRequest& request, const BenchTools& tools,
               const single_run::Progress& progress);

  Result<BenchReport> run(const std::string& module_text);

 private:
  void report_progress(const std::string& what) const;
  Status check_interrupt() const;
  Status choose_dims();
  Status draw_own_pool(int sets);
  Status find_shape();
  /// Verifies a module and prepares it; false when it must not be timed.
  Result<bool> admit(const std::string& text, const std::string& path, TimedEntry& entry);
  Status admit_rivals();
  Status calibrate();
  /// Times everything that was admitted, interleaved, in all workers.
  Status time_modules();
  Status time_worker(int worker, const std::vector<ports::TimedProgram>& programs);
  Status time_again();
  Status ask_profiler();
  Status time_torch();
  Result<BaselineRequest> torch_request() const;
  enum class TorchRun : uint8_t {
    Done,
    Refused,  // another process would not help
    Lost,     // the process died with the results of all modes
  };
  /// The rounds of one process.
  Result<TorchRun> torch_process(const BaselineRequest& ask, int worker, size_t first,
                                 std::vector<std::vector<clock::Cycle>>& cycles);
  /// Times each mode in its own process.
  Status time_apart(const BaselineRequest& together, size_t first,
                    std::vector<std::vector<clock::Cycle>>& cycles);
  /// "" or why the timed results do not count.
  std::string note_round(const BaselineRound& round, int worker, size_t first,
                         std::vector<std::vector<clock::Cycle>>& cycles);
  void note_mode(const BaselineResult& result, const ports::TimedResult& candidate, int worker,
                 TimedEntry& entry, std::vector<clock::Cycle>& cycles);
  void judge_torch(const BaselineResult& result, TimedEntry& entry);
  Status estimate_without_gpu(const kernel::Module& module);
  clock::MeasureOptions measure_options(uint64_t seed) const;
  std::optional<std::string> judge_call(size_t program, const ports::CopiedCall& call) const;
  TimedEntry& entry_of(size_t program);

  const task::Task& task_;
  const BenchRequest& request_;
  const BenchTools& tools_;
  const single_run::Progress& progress_;
  verification::VerifyPools fresh_;
  verification::VerifyPools& pools_;    // fresh_, or the caller's for a quick bench
  std::optional<gate::Pool> own_pool_;  // if the gate's pool lacks the complete timed shape
  TimedShape shape_;
  kernel::Bindings fixed_;
  uint64_t seed_ = 0;
  std::vector<std::unique_ptr<TimedCandidate>> ready_;  // the candidate first
  std::vector<size_t> owners_;                     // of ready_: 0 = candidate, i = rivals[i - 1]
  std::vector<std::vector<clock::Cycle>> cycles_;  // per ready module except the first
  BenchReport report_;
};

}  // namespace kw::timing
