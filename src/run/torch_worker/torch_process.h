// The one process that has torch: started when first needed, replaced when it dies, hangs or talks
// nonsense, and for every other reference: what one does to torch must not reach the next. It lives
// behind the walls of torch_walls.h. The protocol is docs/torch-worker.md; the other side is
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
  std::vector<std::string> command = {};  // to start instead of a Python with our worker; for tests
  uint64_t memory_bytes = 0;   // a reference on the CPU may take; 0: three quarters of what is free
  double start_seconds = 180;  // for importing torch
  bool many_references = false;  // one process for all of them: for tests with texts of our own
};

class TorchProcess {
 public:
  explicit TorchProcess(TorchOptions options = {});
  ~TorchProcess();
  TorchProcess(const TorchProcess&) = delete;
  TorchProcess& operator=(const TorchProcess&) = delete;

  /// Starts it if need be, without waiting: importing torch takes seconds. The next request waits.
  void begin();
  /// Starts it if need be, and waits. body: python, executable, torch, cuda (null without),
  /// devices.
  TorchAnswer hello();
  /// Calls the reference; its outputs, flattened, come back.
  TorchAnswer run(const TorchCall& call, double timeout_seconds);
  /// Any verb over a call. `extra` are further members of the request; `more` further tensors, the
  /// place of the first of which the request tells as "more".
  TorchAnswer ask(const std::string& verb, const TorchCall& call, const Json& extra,
                  double timeout_seconds, const std::vector<const tensor::HostTensor*>& more = {});
  /// Ends it; the next request starts another.
  void stop();
  /// How many were started so far.
  int started() const { return started_; }

 private:
  struct Sent;
  TorchOutcome launch();
  Status start_confined(std::vector<std::string> command);
  Result<Sent> send(Json request, const std::vector<const tensor::HostTensor*>& tensors);
  TorchAnswer receive(const Sent& sent, double timeout_seconds);
  TorchAnswer exchange(Json request, const std::vector<const tensor::HostTensor*>& tensors,
                       double timeout_seconds);
  TorchAnswer lost(os::ChannelState state, double timeout_seconds);
  std::string printed();

  const TorchOptions options_;
  std::optional<os::ScratchFolder> scratch_;  // the only folder it can write
  std::unique_ptr<os::Child> child_;
  std::optional<std::string> reference_;  // path and text of the one it has executed
  std::string program_;                  // a file that one loads: exported_program()
  std::unique_ptr<Sent> greeting_sent_;  // to a child that has not answered yet
  Json greeting_;
  std::string marker_;
  int64_t next_id_ = 1;
  int started_ = 0;
};

}  // namespace kw::torch_worker
