// Recorded modules bring their PTX along: what compiling them gives is already in their text. Every
// other request goes to the compiler behind.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/compiler.h"

namespace kw::compile {

class RecordedCompiler : public exec::Compiler {
 public:
  explicit RecordedCompiler(std::unique_ptr<exec::Compiler> behind) : behind_(std::move(behind)) {}
  std::string name() const override { return behind_->name(); }
  Result<exec::CompileOutcome> compile(const exec::CompileRequest& request) override;
  std::vector<std::string> notes() const override { return behind_->notes(); }

 private:
  std::unique_ptr<exec::Compiler> behind_;
};

}  // namespace kw::compile
