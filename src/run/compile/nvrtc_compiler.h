// The Compiler port with NVRTC in worker processes: a compile that hangs, exhausts memory or
// crashes costs one worker only. Safe to use from several threads, which then compile in parallel.
#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compile/search.h"
#include "os/process.h"
#include "ports/compiler.h"

namespace kw::compile {

struct NvrtcOptions {
  int workers = 0;                            // at most this many; 0 = one per core, at most 16
  int recycle_after = 1000;                   // compiles of one worker
  uint64_t memory_bytes = uint64_t{8} << 30;  // of one worker's address space
  bool precompile = true;
  std::vector<std::string> worker_argv =
      {};  // empty: $KERNELWRIGHT_WORKER or the running binary, with kWorkerCommand
};

class NvrtcCompiler : public ports::Compiler {
 public:
  NvrtcCompiler(FoundNvrtc nvrtc, FoundHeaders headers, NvrtcOptions options = {});
  ~NvrtcCompiler() override;

  std::string name() const override;
  Result<ports::CompileOutcome> compile(const ports::CompileRequest& request) override;
  std::vector<std::string> notes() const override;

 private:
  struct Worker;

  Result<std::unique_ptr<Worker>> start_worker(const std::vector<std::string>& extra_folders);
  Result<std::unique_ptr<Worker>> acquire(const ports::CompileRequest& request);
  void release(std::unique_ptr<Worker> worker);
  void forget();
  void note(const std::string& text);
  ports::CompileOutcome lost(Worker& worker, os::ChannelState state,
                             const ports::CompileRequest& request) const;

  const FoundNvrtc nvrtc_;
  const FoundHeaders headers_;
  NvrtcOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::list<std::unique_ptr<Worker>> idle_;  // most recently used first
  int started_ = 0;                          // idle and busy
  std::vector<std::string> notes_;
  std::atomic<bool> precompile_{true};
};

}  // namespace kw::compile
