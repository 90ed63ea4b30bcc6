// Modules without a compiler: PTX committed beside the corpus, with the names of its kernels in its
// first lines.
#pragma once

#include <string>

#include "ports/compiler.h"

namespace kw::corpus {

/// Answers a request for NAME.cu from `folder`/NAME.ptx, or fails when that was made for other
/// tunables or kernels.
class ReplayCompiler : public ports::Compiler {
 public:
  explicit ReplayCompiler(std::string folder) : folder_(std::move(folder)) {}
  std::string name() const override { return "committed PTX"; }
  Result<ports::CompileOutcome> compile(const ports::CompileRequest& request) override;

 private:
  std::string folder_;
};

/// Passes requests on, and keeps each answer as a file that ReplayCompiler can read.
class RecordingCompiler : public ports::Compiler {
 public:
  RecordingCompiler(ports::Compiler& inner, std::string folder)
      : inner_(inner), folder_(std::move(folder)) {}
  std::string name() const override { return inner_.name(); }
  Result<ports::CompileOutcome> compile(const ports::CompileRequest& request) override;

 private:
  ports::Compiler& inner_;
  std::string folder_;
};

}  // namespace kw::corpus
