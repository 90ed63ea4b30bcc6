// A Compiler that compiles in advance. The caller announces the next requests; other threads
// compile them, each with a worker process of the inner compiler. compile() then answers from
// memory. When kernels may be compiled apart, code that many modules share is compiled once, and
// the kernels of one module use all threads.
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

/// How to compile requests that allow both ways.
enum class Kernels : uint8_t { Together, Apart };

class AheadCompiler : public ports::Compiler {
 public:
  /// `inner` must be safe to use from several threads and must outlive this.
  AheadCompiler(ports::Compiler& inner, int threads, Kernels kernels = Kernels::Together);
  ~AheadCompiler() override;

  /// Compiles this as soon as a thread is free, unless the answer is known already.
  void ahead(ports::CompileRequest request);

  std::string name() const override { return inner_.name(); }
  /// Answers with what was compiled ahead, and waits if it is under way. Otherwise compiles now.
  Result<ports::CompileOutcome> compile(const ports::CompileRequest& request) override;
  std::vector<std::string> notes() const override { return inner_.notes(); }

 private:
  struct Slot {
    bool started = false;
    std::optional<Result<ports::CompileOutcome>> answer;
  };
  void work();
  Result<ports::CompileOutcome> guarded_compile(const ports::CompileRequest& request);
  void announce(ports::CompileRequest request);
  /// Empty when the module must be compiled whole.
  std::vector<compile::Slice> slices_of(const ports::CompileRequest& request);
  /// Compiles the request as one piece, even if it allows compiling apart.
  Result<ports::CompileOutcome> compile_one(const ports::CompileRequest& request);
  /// Empty when the module must be compiled whole.
  Result<std::optional<ports::Compiled>> compile_apart(const ports::CompileRequest& request);
  void note_answer(const std::string& key, Slot& slot, Result<ports::CompileOutcome> answer);

  ports::Compiler& inner_;
  const Kernels kernels_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<Slot>> slots_;
  std::deque<std::pair<std::string, ports::CompileRequest>> waiting_;
  std::deque<std::string> answered_;  // oldest first
  // The sources read last: each is requested in several shapes, and as PTX and machine code.
  std::deque<std::pair<std::string, std::shared_ptr<const compile::KernelTexts>>> texts_;
  std::vector<std::thread> threads_;
  bool ending_ = false;
};

}  // namespace kw::machine
