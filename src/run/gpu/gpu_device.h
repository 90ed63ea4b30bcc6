// A real GPU behind the Device port. All device work happens in a worker process that is kept from
// candidate to candidate and replaced when one has ruined it; a canary kernel proves the device
// sound before the next one runs.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
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
  double lock_timeout_seconds =
      600;                 // how long to wait for another process to be done with this GPU
  Notice notice;           // told when we wait for it
  uint64_t kept_part = 4;  // the worker keeps inputs in at most this part of the device's memory
};

/// Safe to use from several threads; calls are served one after another.
class GpuDevice : public ports::Device {
 public:
  /// Environment Error when there is no driver or no such GPU; it says what was tried.
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

  /// Measures what the GPU can do. Takes a few seconds, under the lock.
  Result<record::Calibration> calibrate(double timeout_seconds);
  /// Ends the worker; the next call starts a fresh one.
  void renew();

  /// The worker's process id, 0 when there is none at the moment.
  pid_t worker_pid() const { return worker_pid_; }

 private:
  struct Image {
    ports::ImageKind kind = ports::ImageKind::Ptx;
    std::string bytes;
    std::string hash;
    uint64_t last_used = 0;
  };

  GpuDevice(int ordinal, GpuOptions options) : ordinal_(ordinal), options_(std::move(options)) {}
  /// A worker that is there; a new one if need be.
  Status ensure_worker();
  /// The same, proven healthy. The GPU's lock must be held.
  Status ensure_healthy();
  Status canary();
  /// Drops the worker; the next one must show that the device is well.
  void drop_worker(const std::string& why);
  Status ensure_image(ports::ImageId id);
  Status share_arena();
  void forget_old_images(ports::ImageId keep);
  /// What has to be written to the arena once it is there.
  struct ArenaFill {
    Range range;
    const tensor::Bytes* from;
  };
  /// Where the worker finds an input; sends it along unless it is kept there.
  InputRef place_input(InputKey key, const tensor::Bytes& data, const std::set<InputKey>& needed,
                       Request& request, std::vector<ArenaFill>& fills);
  /// Lays the request's tensors out: which inputs the worker keeps already, which it is sent, where
  /// outputs go. The worker must be there.
  Status lay_out(const Question& question, Request& request);
  /// Everything about a run or a timing but the verb: tensors there, lock taken, device healthy,
  /// question asked. A status other than Completed says what became of the worker, and `message`
  /// how.
  Result<ports::RunStatus> serve(const Question& question, Request& request, double limit_seconds,
                                 Reply& reply, std::string& message);
  Result<ports::RunStatus> converse(const Request& request, double limit_seconds, Reply& reply,
                                    std::string& message);
  /// What a call returned, out of the arena.
  std::vector<tensor::HostTensor> fetch(const kernel::Program& program,
                                        const std::vector<Range>& ranges);

  uint64_t most_kept() const;

  const int ordinal_;
  const GpuOptions options_;
  std::mutex mutex_;
  ports::DeviceInfo info_;
  std::unique_ptr<WorkerLink> worker_;
  std::atomic<pid_t> worker_pid_ = 0;  // for those who watch a run from another thread
  std::string
      suspicion_;  // why the device must prove itself before the next candidate; "" = no reason
  std::map<ports::ImageId, Image> images_;
  ports::ImageId next_image_ = 1;
  uint64_t clock_ = 0;
  Arena arena_;
  SpareBuffers spare_;
};

}  // namespace kw::gpu
