// The process that runs torch: started at the first request, replaced when it dies, hangs or
// answers badly. Every reference gets a fork of it, because a reference may change torch itself.
// torch_confinement.h confines it. The protocol is in docs/torch-worker.md; the other side is
// python/torch_worker.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/process.h"
#include "os/scratch.h"
#include "torch_worker/torch_call.h"
#include "torch_worker/torch_outcome.h"

namespace kw::torch_worker {

struct TorchOptions {
  std::vector<std::string> command = {};  // for tests: started instead of a Python with our worker
  uint64_t memory_bytes = 0;     // for a reference on the CPU; 0: three quarters of the free memory
  double start_seconds = 180;    // for importing torch
  bool baselines = false;        // it takes times: torch.compile may start compilers
  bool many_references = false;  // one process for all references: for tests with our own sources
  bool gpu = false;  // its references use CUDA, which works in a process without forks only
};

class TorchProcess {
 public:
  explicit TorchProcess(TorchOptions options = {});
  ~TorchProcess();
  TorchProcess(const TorchProcess&) = delete;
  TorchProcess& operator=(const TorchProcess&) = delete;

  /// Starts it if needed and does not wait: importing torch takes seconds. The next request waits.
  void begin();
  /// Starts it if needed and waits. body: python, executable, torch, cuda (null if there is none),
  /// devices.
  TorchAnswer hello();
  /// Calls the reference and returns its outputs, flattened.
  TorchAnswer run(const TorchCall& call, double timeout_seconds);
  /// Sends any verb with a call. `extra` holds further members of the request and `more` further
  /// tensors; the request's "more" is the index of the first of them.
  TorchAnswer ask(const std::string& verb, const TorchCall& call, const Json& extra,
                  double timeout_seconds, const std::vector<const tensor::HostTensor*>& more = {});
  /// Ends it; the next request starts another.
  void stop();
  /// The number of processes started so far.
  int started() const { return started_; }

 private:
  struct Sent;
  TorchOutcome launch();
  Status start_confined(std::vector<std::string> command);
  void make_room_for(const std::string& reference, const TorchCall& call);
  bool end_reference();
  Result<Sent> send(Json request, const std::vector<const tensor::HostTensor*>& tensors);
  TorchAnswer receive(const Sent& sent, double timeout_seconds);
  TorchAnswer exchange(Json request, const std::vector<const tensor::HostTensor*>& tensors,
                       double timeout_seconds);
  TorchAnswer lost(os::ChannelState state, double timeout_seconds);
  std::string printed();

  const TorchOptions options_;
  std::optional<os::ScratchFolder> scratch_;  // the only folder it can write
  std::unique_ptr<os::Child> child_;
  std::optional<std::string> reference_;  // path and texts of the reference that it has executed
  bool alone_ = false;                    // it runs references itself, without forks
  std::string program_;                   // the file that the reference loads: exported_program()
  std::unique_ptr<Sent> greeting_sent_;   // to a child that has not answered yet
  Json greeting_;
  std::string marker_;
  int64_t next_id_ = 1;
  int started_ = 0;
};

}  // namespace kw::torch_worker
