// A real GPU behind the Device port. All device work happens in a worker process. It is kept from
// candidate to candidate and replaced after a loss; then a canary kernel must succeed first.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "gpu/arena.h"
#include "gpu/lock.h"
#include "gpu/question.h"
#include "gpu/spare_buffers.h"
#include "gpu/worker_link.h"
#include "ports/device.h"
#include "record/calibration.h"

namespace kw::gpu {

struct GpuOptions {
  double lock_timeout_seconds = 600;  // how long to wait until another process releases this GPU
  Notice notice;                      // called when we wait for the GPU
  uint64_t kept_part = 4;             // kept inputs take at most 1/kept_part of the device's memory
};

/// Safe to use from several threads; calls are served one after another.
class GpuDevice : public ports::Device {
 public:
  /// Environment Error when there is no driver or no such GPU; it lists what was tried.
  static Result<std::unique_ptr<GpuDevice>> open(int ordinal, GpuOptions options = {});
  ~GpuDevice() override;

  ports::DeviceInfo info() const override { return info_; }
  Result<ports::ImageId> load(const ports::Compiled& compiled) override;
  Result<ports::RunOutcome> run(ports::ImageId image, const kernel::Program& program,
                                const ports::InputViews& inputs,
                                const ports::RunOptions& options) override;
  Result<ports::TimeOutcome> time(const std::vector<ports::TimedProgram>& programs,
                                  const ports::TimeProtocol& protocol) override;
  Status health() override;
  void recycle(std::vector<tensor::HostTensor> buffers) override;

  /// Measures the rates of the GPU. Takes a few seconds and holds the lock.
  Result<record::Calibration> calibrate(double timeout_seconds);
  /// Ends the worker; the next call starts a new one.
  void renew();

  /// The worker's process id; 0 when no worker runs.
  pid_t worker_pid() const { return worker_pid_; }

 private:
  struct Image {
    ports::ImageKind kind = ports::ImageKind::Ptx;
    std::string bytes;
    std::string hash;
    uint64_t last_used = 0;
  };

  GpuDevice(int ordinal, GpuOptions options) : ordinal_(ordinal), options_(std::move(options)) {}
  /// Starts a worker if none runs.
  Status ensure_worker();
  /// The same, and the device is proven healthy. The caller must hold the GPU's lock.
  Status ensure_healthy();
  Status canary();
  /// Ends the worker. Before the next candidate, the device must pass the canary.
  void drop_worker(const std::string& why);
  Status ensure_image(ports::ImageId id);
  Status share_arena();
  void forget_old_images(ports::ImageId keep);
  /// Bytes to write to the arena after it is allocated.
  struct ArenaFill {
    Range range;
    const tensor::Bytes* from;
  };
  /// Returns where the worker finds an input. Uploads it unless the worker keeps it already.
  InputRef place_input(InputKey key, const tensor::Bytes& data, const std::set<InputKey>& needed,
                       Request& request, std::vector<ArenaFill>& fills);
  /// Lays out the request's tensors: inputs that the worker keeps, inputs to send, places for
  /// outputs. A worker must be running.
  Status lay_out(const Question& question, Request& request);
  /// Serves a run or a timing: takes the lock, ensures a healthy device, lays out tensors, asks. A
  /// status other than Completed says what happened to the worker; `message` says how.
  Result<ports::RunStatus> serve(const Question& question, Request& request, double limit_seconds,
                                 Reply& reply, std::string& message);
  Result<ports::RunStatus> converse(const Request& request, double limit_seconds, Reply& reply,
                                    std::string& message);
  /// Copies the outputs of a call out of the arena.
  std::vector<tensor::HostTensor> fetch(const kernel::Program& program,
                                        const std::vector<Range>& ranges);

  uint64_t most_kept() const;

  const int ordinal_;
  const GpuOptions options_;
  std::mutex mutex_;
  ports::DeviceInfo info_;
  std::unique_ptr<WorkerLink> worker_;
  std::atomic<pid_t> worker_pid_ = 0;  // atomic: other threads read it during a run
  std::string
      suspicion_;  // why the device must pass the canary before the next candidate; "": no reason
  std::map<ports::ImageId, Image> images_;
  ports::ImageId next_image_ = 1;
  uint64_t clock_ = 0;
  Arena arena_;
  SpareBuffers spare_;
};

}  // namespace kw::gpu
