// A Compiler that can be told what will be asked next: compiles that in other threads (each keeping
// a worker process of the inner compiler busy) while its owner runs and measures, and answers from
// memory when the question comes. Where kernels may be compiled apart, it does so: what many
// modules share is compiled once, and the kernels of one keep all threads busy.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "compile/slices.h"
#include "ports/compiler.h"

namespace kw::machine {

/// How requests that allow either are compiled.
enum class Kernels : uint8_t { Together, Apart };

class AheadCompiler : public ports::Compiler {
 public:
  /// `inner` must be safe to use from several threads and outlive this.
  AheadCompiler(ports::Compiler& inner, int threads, Kernels kernels = Kernels::Together);
  ~AheadCompiler() override;

  /// Starts on this as soon as a thread is free; what is known already is not compiled again.
  void ahead(ports::CompileRequest request);

  std::string name() const override { return inner_.name(); }
  /// From what was compiled ahead (waits while it is under way), else now.
  Result<ports::CompileOutcome> compile(const ports::CompileRequest& request) override;
  std::vector<std::string> notes() const override { return inner_.notes(); }

 private:
  struct Slot {
    bool started = false;
    std::optional<Result<ports::CompileOutcome>> answer;
  };
  void work();
  void announce(ports::CompileRequest request);
  /// Empty when it has to be compiled whole.
  std::vector<compile::Slice> slices_of(const ports::CompileRequest& request);
  /// As the request is, whatever it allows.
  Result<ports::CompileOutcome> compile_one(const ports::CompileRequest& request);
  /// Nothing when it has to be compiled whole.
  Result<std::optional<ports::Compiled>> compile_apart(const ports::CompileRequest& request);
  void note_answer(const std::string& key, Slot& slot, Result<ports::CompileOutcome> answer);

  ports::Compiler& inner_;
  const Kernels kernels_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<Slot>> slots_;
  std::deque<std::pair<std::string, ports::CompileRequest>> waiting_;
  std::deque<std::string> answered_;  // oldest first
  // The last sources read: each is asked for in several shapes, and as PTX and machine code.
  std::deque<std::pair<std::string, std::shared_ptr<const compile::KernelTexts>>> texts_;
  std::vector<std::thread> threads_;
  bool ending_ = false;
};

}  // namespace kw::machine
