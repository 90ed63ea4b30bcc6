// Starts every process that runs text we did not write: a candidate, a reference, a source for a
// compiler. The process gets the walls of its kind (sandbox/kinds.h). Where this machine cannot
// give all of them, it is not started, unless the user allowed that kind to run unconfined.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "os/landlock.h"
#include "os/process.h"
#include "sandbox/kinds.h"

namespace kw::sandbox {

struct ForeignProcess {
  Kind kind;
  os::Allowed allowed;                        // files
  std::vector<std::string> environment = {};  // NAME=value, besides what programs need
  uint64_t memory_bytes = 0;                  // address space of each process; 0 = unlimited
  uint64_t data_bytes = 0;                    // private memory that can be written; 0 = unlimited
};

/// os::run_process() and os::Child::start() behind the walls of the job's kind. Of the limits,
/// memory, walls and environment are the job's. Environment Error when a wall is missing; it names
/// the wall and the option that starts it without.
Result<os::ProcessResult> run(const ForeignProcess& job, const std::vector<std::string>& argv,
                              std::string_view input = {}, const os::ProcessLimits& limits = {});
Result<std::unique_ptr<os::Child>> start(const ForeignProcess& job,
                                         const std::vector<std::string>& argv);

/// What every program needs to start and to load its libraries; a job adds to this.
os::Allowed system_files();
/// The same for a worker of ours: also its program, and the folders of $LD_LIBRARY_PATH.
os::Allowed worker_files(const std::string& program);
/// Adds the devices of a GPU, and what its driver reads.
void add_gpu(os::Allowed* allowed);
/// Whether this machine shows devices of an NVIDIA GPU.
bool has_gpu_devices();

/// The environment variable that names the kinds that may run unconfined, separated by commas. It
/// reaches the programs that we start, so they follow the same permission.
inline constexpr const char* kUnconfinedVariable = "KERNELWRIGHT_UNCONFINED";
/// The environment entry NAME=value that adds a kind to those of this process, for a program of
/// ours whose processes another program attaches to: a profiler or a checker.
std::string also_unconfined(const std::string& word);
/// While one exists, these kinds (words of the table) run unconfined, besides those of the
/// variable.
class Unconfined {
 public:
  explicit Unconfined(std::vector<std::string> words);
  ~Unconfined();
  Unconfined(const Unconfined&) = delete;
  Unconfined& operator=(const Unconfined&) = delete;

 private:
  std::vector<std::string> words_;
};
/// Whether processes of the kinds with this word run unconfined.
bool is_unconfined(const std::string& word);
/// All such words of the table.
std::vector<std::string> unconfined_words();
/// The words of kinds that this process has started unconfined so far. Verdicts record them.
std::vector<std::string> started_unconfined();

}  // namespace kw::sandbox
