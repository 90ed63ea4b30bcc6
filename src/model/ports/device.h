// The port behind which the virtual GPU and real GPUs stand: load an image, run a program, time it, say how you are.
#pragma once

#include <cstdint>
#include <optional>
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
  std::string name;         // "NVIDIA H200" or "virtual GPU (sm_90)"
  std::string target;       // "sm_90"
  bool is_virtual = false;
  int sms = 0;
  int64_t l2_bytes = 0, shared_per_block_optin = 0, memory_bytes = 0;
  int sm_clock_mhz = 0, memory_clock_mhz = 0;  // 0: unknown
  double dram_gbps = 0;     // what clock and width of the memory allow at most; 0: unknown
  std::string uuid, driver;
  ImageKind image = ImageKind::Ptx;            // what load() wants
};

struct RunOptions {
  bool counters = false;        // virtual GPU only: count instead of (not beside) checking
  bool check_order = false;     // virtual GPU only: run again with permuted blocks and warps, compare
  int threads = 0;              // virtual GPU host threads; 0 = all cores
  uint64_t schedule_seed = 0;   // 0: natural order
  uint64_t max_warp_instructions = 0;  // 0: a generous default
  double timeout_seconds = 60;
  int misalign_bytes = 0;       // offset every buffer from its natural base by this (multiple of its align)
  bool copy_outputs = true;     // real GPU: false leaves RunOutcome::buffers empty; hashes are there all the same
  uint64_t hash_seed = 0;       // real GPU: of RunOutcome::hashes
};

enum class RunStatus : uint8_t {
  Completed,    // ran to the end; findings may still condemn it
  Stopped,      // the virtual GPU stopped it: findings say why
  Faulted,      // illegal access, trap, misaligned address … on the device
  Hung,         // the watchdog ended it
  OutOfMemory,  // its buffers do not fit this device
  WorkerLost,   // the worker process died with it
  Refused,      // the device cannot run this (launch error, image not loadable)
};
const char* run_status_name(RunStatus status);

struct RunOutcome {
  RunStatus status = RunStatus::Completed;
  std::string message;                        // why, when not Completed
  std::vector<tensor::HostTensor> buffers;    // parallel to Program::buffers; filled for Output and Inout
  std::vector<uint64_t> hashes;               // real GPU: audit_hash of each buffer it returns, 0 for others
  std::vector<record::Finding> findings;
  std::vector<record::LaunchCounters> counters;  // per launch, when asked for
  std::string printed;                        // what the kernels' printf wrote
  double seconds = 0;                         // wall time of the run itself
};

/// How a timing call is made. docs/clock.md says why each thing is done.
struct TimeProtocol {
  int warmup_calls = 3;         // at least
  double warmup_seconds = 0.2;  // at most, while times are not steady yet
  int max_samples = 400;
  double max_seconds = 0.5;  // of accumulated device time, per program
  bool cold_cache = true;    // sweep L2 before every sample
  int graph_copies = 10;     // below graph_below_us: at least so many calls per sample
  double graph_below_us = 50;
  double timeout_seconds = 60;
  bool audit = true;       // hash what every timed call wrote
  int copies_out = 0;      // timed calls drawn at random whose outputs are copied out; if any, also
                           // those of the last call
  uint64_t seed = 1;       // of addresses, of the order of the pool and of the calls copied out
  uint64_t hash_seed = 0;  // of audit_hash
  bool span = false;       // also ask the profiling library, which spoils what is timed afterwards
};

/// A loaded image; 0 is never valid.
using ImageId = uint64_t;

/// The inputs of a call, borrowed: parallel to Program::buffers. Large ones are neither copied nor hashed on the way to
/// a device where the caller knows their hash.
class InputViews {
 public:
  InputViews() = default;
  InputViews(const std::vector<tensor::HostTensor>& tensors) {  // NOLINT(google-explicit-constructor)
    for (const tensor::HostTensor& tensor : tensors) add(&tensor);
  }
  InputViews(const std::vector<tensor::HostTensor>* tensors) : InputViews(*tensors) {}  // NOLINT
  /// Nothing for a buffer that is not given; `hash` is its audit_hash (seed 0), or 0 when that is not known.
  void add(const tensor::HostTensor* tensor, uint64_t hash = 0) { views_.push_back({tensor, hash}); }

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
  /// At least one set of inputs, each parallel to program->buffers. Contents change from call to
  /// call by copying from here.
  std::vector<InputViews> pool;
};

/// What one timed call wrote, copied out for a judge.
struct CopiedCall {
  int sample = 0, entry = 0;
  std::vector<tensor::HostTensor> buffers;  // parallel to the program's; filled for what it returns
};

/// One program's part of a TimeOutcome.
struct TimedResult {
  record::TimingSamples samples;
  std::vector<record::CallAudit> audits;  // of every timed call, when asked for
  std::vector<CopiedCall> copied;
  std::vector<record::Finding> findings;  // guards, inputs and kept scratch after the last call
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
  /// Fails with Blame::Input when the device cannot take the image (wrong kind, unsupported instruction …).
  virtual Result<ImageId> load(const Compiled& compiled) = 0;
  /// `inputs` is parallel to program.buffers; read for Input and Inout, ignored for others.
  virtual Result<RunOutcome> run(ImageId image, const kernel::Program& program, const InputViews& inputs,
                                 const RunOptions& options) = 0;
  /// Gives the buffers of an outcome back, so that a later one need not find fresh memory. Optional.
  virtual void recycle(std::vector<tensor::HostTensor> buffers);
  /// Interleaved timing of one or more programs. The virtual GPU has no clock and answers with an environment Error.
  virtual Result<TimeOutcome> time(const std::vector<TimedProgram>& programs, const TimeProtocol& protocol) = 0;
  /// Runs a canary; an Error says what is wrong with the device.
  virtual Status health() = 0;
};

}  // namespace kw::ports
