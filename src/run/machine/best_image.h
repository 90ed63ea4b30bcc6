// Compiles to a cubin where something here can make one, to PTX otherwise. Only a cubin tells
// registers and spills, and it loads faster; but clang without ptxas makes PTX alone, which every
// device takes.
#pragma once

#include <string>

#include "exec/compiler.h"

namespace kw::engine {

class BestImage {
 public:
  /// `wanted` is tried first; Ptx means PTX alone.
  BestImage(exec::Compiler& compiler, exec::ImageKind wanted)
      : compiler_(compiler), kind_(wanted) {}

  exec::Compiler& compiler() { return compiler_; }
  /// request.image is set here.
  Result<exec::CompileOutcome> compile(exec::CompileRequest request);
  /// Why there is no cubin; "" when there is, or none was wanted.
  const std::string& note() const { return note_; }

 private:
  exec::Compiler& compiler_;
  exec::ImageKind kind_;
  std::string note_;
};

}  // namespace kw::engine
