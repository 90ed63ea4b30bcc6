// Refuses device code that reads what it must not know of the machine (ptx/machine_reads.h), and
// instructions that are not on the list of those allowed (ptx/instruction_rules.h), whichever
// compiler made it and for recorded modules too. It judges the PTX; a cubin is judged by the PTX of
// the same source.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ports/compiler.h"

namespace kw::compile {

class CheckedCompiler : public ports::Compiler {
 public:
  explicit CheckedCompiler(std::unique_ptr<ports::Compiler> inner) : inner_(std::move(inner)) {}
  std::string name() const override { return inner_->name(); }
  Result<ports::CompileOutcome> compile(const ports::CompileRequest& request) override;
  std::vector<std::string> notes() const override { return inner_->notes(); }

 private:
  std::unique_ptr<ports::Compiler> inner_;
};

}  // namespace kw::compile
