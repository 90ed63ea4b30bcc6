// Compiles to a cubin if a compiler here can, otherwise to PTX. Only a cubin tells registers and
// spills, and it loads faster. But clang without ptxas makes PTX alone, which every device accepts.
#pragma once

#include <string>

#include "ports/compiler.h"

namespace kw::machine {

class BestImage {
 public:
  /// `wanted` is tried first; Ptx means PTX alone.
  BestImage(ports::Compiler& compiler, ports::ImageKind wanted)
      : compiler_(compiler), kind_(wanted) {}

  ports::Compiler& compiler() { return compiler_; }
  /// Sets request.image itself.
  Result<ports::CompileOutcome> compile(ports::CompileRequest request);
  /// Why there is no cubin; "" when there is one, or when PTX was asked for.
  const std::string& note() const { return note_; }

 private:
  ports::Compiler& compiler_;
  ports::ImageKind kind_;
  std::string note_;
};

}  // namespace kw::machine
