// Compiles to a cubin where something here can make one, to PTX otherwise. Only a cubin tells
// registers and spills, and it loads faster; but clang without ptxas makes PTX alone, which every
// device takes.
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
  /// request.image is set here.
  Result<ports::CompileOutcome> compile(ports::CompileRequest request);
  /// Why there is no cubin; "" when there is, or none was wanted.
  const std::string& note() const { return note_; }

 private:
  ports::Compiler& compiler_;
  ports::ImageKind kind_;
  std::string note_;
};

}  // namespace kw::machine
