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
#include "exec/compiler.h"

namespace kw::engine {

/// How requests that allow either are compiled.
enum class Kernels : uint8_t { Together, Apart };

class AheadCompiler : public exec::Compiler {
 public:
  /// `inner` must be safe to use from several threads and outlive this.
  AheadCompiler(exec::Compiler& inner, int threads, Kernels kernels = Kernels::Together);
  ~AheadCompiler() override;

  /// Starts on this as soon as a thread is free; what is known already is not compiled again.
  void ahead(exec::CompileRequest request);

  std::string name() const override { return inner_.name(); }
  /// From what was compiled ahead (waits while it is under way), else now.
  Result<exec::CompileOutcome> compile(const exec::CompileRequest& request) override;
  std::vector<std::string> notes() const override { return inner_.notes(); }

 private:
  struct Slot {
    bool started = false;
    std::optional<Result<exec::CompileOutcome>> answer;
  };
  void work();
  void announce(exec::CompileRequest request);
  /// Empty when it has to be compiled whole.
  std::vector<compile::Slice> slices_of(const exec::CompileRequest& request);
  /// As the request is, whatever it allows.
  Result<exec::CompileOutcome> compile_one(const exec::CompileRequest& request);
  /// Nothing when it has to be compiled whole.
  Result<std::optional<exec::Compiled>> compile_apart(const exec::CompileRequest& request);
  void note_answer(const std::string& key, Slot& slot, Result<exec::CompileOutcome> answer);

  exec::Compiler& inner_;
  const Kernels kernels_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<Slot>> slots_;
  std::deque<std::pair<std::string, exec::CompileRequest>> waiting_;
  std::deque<std::string> answered_;  // oldest first
  // The last sources read: each is asked for in several shapes, and as PTX and machine code.
  std::deque<std::pair<std::string, std::shared_ptr<const compile::KernelTexts>>> texts_;
  std::vector<std::thread> threads_;
  bool ending_ = false;
};

}  // namespace kw::engine
