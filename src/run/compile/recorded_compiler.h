// Serves recorded modules from the PTX that their text contains. All other requests go to the inner
// compiler.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ports/compiler.h"

namespace kw::compile {

class RecordedCompiler : public ports::Compiler {
 public:
  explicit RecordedCompiler(std::unique_ptr<ports::Compiler> behind) : behind_(std::move(behind)) {}
  std::string name() const override { return behind_->name(); }
  Result<ports::CompileOutcome> compile(const ports::CompileRequest& request) override;
  std::vector<std::string> notes() const override { return behind_->notes(); }

 private:
  std::unique_ptr<ports::Compiler> behind_;
};

}  // namespace kw::compile
