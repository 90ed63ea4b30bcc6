// The port of the virtual GPU and real GPUs: loads an image, runs a program, times it, checks its
// health.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "kernel/program.h"
#include "ports/compiler.h"
#include "record/counters.h"
#include "record/finding.h"
#include "record/timing.h"
#include "tensor/host_tensor.h"

namespace kw::ports {

struct DeviceInfo {
  std::string name;    // "NVIDIA H200" or "virtual GPU (sm_90)"
  std::string target;  // "sm_90"
  bool is_virtual = false;
  int sms = 0;
  int64_t l2_bytes = 0, shared_per_block_optin = 0, memory_bytes = 0;
  int sm_clock_mhz = 0, memory_clock_mhz = 0;  // 0: unknown
  double dram_gbps = 0;  // the most that memory clock and width allow; 0: unknown
  std::string uuid, driver;
  ImageKind image = ImageKind::Ptx;  // the kind that load() takes
};

struct RunOptions {
  bool counters = false;               // virtual GPU only: counts instead of checking
  bool check_order = false;            // virtual GPU only: compares with a run in permuted order
  int threads = 0;                     // host threads of the virtual GPU; 0 = all cores
  uint64_t schedule_seed = 0;          // 0: natural order
  uint64_t max_warp_instructions = 0;  // 0: a large default
  double timeout_seconds = 60;
  bool close_buffers = false;  // virtual GPU only: buffers lie as near to each other as on a device
  int misalign_bytes = 0;      // moves every buffer by this (a multiple of its alignment)
  bool copy_outputs = true;    // real GPU: false leaves RunOutcome::buffers empty, but not hashes
  uint64_t hash_seed = 0;      // real GPU: seed of RunOutcome::hashes
};

enum class RunStatus : uint8_t {
  Completed,    // ran to the end; findings may still reject it
  Stopped,      // the virtual GPU stopped it; findings say why
  Faulted,      // illegal access, trap, misaligned address … on the device
  Hung,         // the watchdog ended it
  OutOfMemory,  // its buffers do not fit into this device
  WorkerLost,   // the worker process died during the run
  Refused,      // the device cannot run this (launch error, image not loadable)
};
const char* run_status_name(RunStatus status);

/// Which ways the conditional branches of one kernel went, in the order of its code.
struct BranchWays {
  std::string entry;
  std::vector<uint8_t> ways;  // kBranchTaken, kBranchPassed, or both
  std::vector<int> lines;     // of the module; parallel
};
inline constexpr uint8_t kBranchTaken = 1, kBranchPassed = 2;

struct RunOutcome {
  RunStatus status = RunStatus::Completed;
  std::string message;                      // why, when not Completed
  std::vector<tensor::HostTensor> buffers;  // parallel to Program::buffers; only Output, Inout
  std::vector<uint64_t> hashes;             // real GPU: audit_hash per buffer; 0 if not returned
  std::vector<record::Finding> findings;
  std::vector<record::LaunchCounters> counters;  // per launch, when requested
  std::vector<BranchWays> branches;              // virtual GPU, per launch
  std::string printed;                           // output of the kernels' printf
  double seconds = 0;                            // wall time of the run itself
};

/// The parameters of a timing call. docs/clock.md gives the reasons.
struct TimeProtocol {
  int warmup_calls = 3;         // at least
  double warmup_seconds = 0.2;  // at most, while times are not steady
  int max_samples = 400;
  double max_seconds = 0.5;  // of accumulated device time, per program
  bool cold_cache = true;    // clears L2 before every sample
  int graph_copies = 10;     // below graph_below_us: at least this many calls per sample
  double graph_below_us = 50;
  double timeout_seconds = 60;
  bool audit = true;       // hashes the outputs of every timed call
  int copies_out = 0;      // random timed calls that are copied out, plus the last one; 0: none
  uint64_t seed = 1;       // seed of addresses, order of the pool, and the calls copied out
  uint64_t hash_seed = 0;  // of audit_hash
  bool span = false;       // also uses the profiling library, which disturbs later timings
};

/// A loaded image; 0 is never valid.
using ImageId = uint64_t;

/// The inputs of a call, borrowed; parallel to Program::buffers. If the caller knows the hash of a
/// large input, it is neither copied nor hashed on the way to a device.
class InputViews {
 public:
  InputViews() = default;
  InputViews(
      const std::vector<tensor::HostTensor>& tensors) {  // NOLINT(google-explicit-constructor)
    for (const tensor::HostTensor& tensor : tensors) add(&tensor);
  }
  InputViews(const std::vector<tensor::HostTensor>* tensors) : InputViews(*tensors) {}  // NOLINT
  /// nullptr for a buffer that is not given. `hash` is its audit_hash (seed 0), or 0 when unknown.
  void add(const tensor::HostTensor* tensor, uint64_t hash = 0) {
    views_.push_back({tensor, hash});
  }

  size_t size() const { return views_.size(); }
  const tensor::HostTensor& operator[](size_t index) const {
    static const tensor::HostTensor kNothing;
    return views_[index].tensor != nullptr ? *views_[index].tensor : kNothing;
  }
  uint64_t hash(size_t index) const { return views_[index].hash; }

 private:
  struct View {
    const tensor::HostTensor* tensor = nullptr;
    uint64_t hash = 0;
  };
  std::vector<View> views_;
};

/// One program of a timing call.
struct TimedProgram {
  ImageId image = 0;
  const kernel::Program* program = nullptr;
  /// At least one set of inputs, each parallel to program->buffers. Before each call the contents
  /// are copied from one of them.
  std::vector<InputViews> pool;
};

/// The outputs of one timed call, copied out for the judge.
struct CopiedCall {
  int sample = 0, entry = 0;
  std::vector<tensor::HostTensor> buffers;  // parallel to the program's; set for returned buffers
};

/// The part of a TimeOutcome that belongs to one program.
struct TimedResult {
  record::TimingSamples samples;
  std::vector<record::CallAudit> audits;  // of every timed call, when requested
  std::vector<CopiedCall> copied;
  std::vector<record::Finding> findings;  // guards, inputs, kept scratch after the last call
};

struct TimeOutcome {
  RunStatus status = RunStatus::Completed;
  std::string message;
  std::vector<TimedResult> results;  // parallel to the programs; the i-th samples of all of them
                                     // were taken in the same pass
};

class Device {
 public:
  virtual ~Device();
  virtual DeviceInfo info() const = 0;
  /// Input Error when the device cannot load the image (wrong kind, unsupported instruction …).
  virtual Result<ImageId> load(const Compiled& compiled) = 0;
  /// `inputs` is parallel to program.buffers. It is read for Input and Inout and ignored for
  /// others.
  virtual Result<RunOutcome> run(ImageId image, const kernel::Program& program,
                                 const InputViews& inputs, const RunOptions& options) = 0;
  /// Returns the buffers of an outcome, so that a later run can reuse their memory. Optional.
  virtual void recycle(std::vector<tensor::HostTensor> buffers);
  /// Interleaved timing of one or more programs. The virtual GPU has no clock and returns an
  /// environment Error.
  virtual Result<TimeOutcome> time(const std::vector<TimedProgram>& programs,
                                   const TimeProtocol& protocol) = 0;
  /// Runs a small known kernel. The Error says what is wrong with the device.
  virtual Status health() = 0;
};

}  // namespace kw::ports
