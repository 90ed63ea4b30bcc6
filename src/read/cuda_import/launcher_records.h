// The records of a followed launcher: for every path through it, its launches and their arguments.
// Plain values, from which plan lines are made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cuda_import/term.h"
#include "tensor/dtype.h"

namespace kw::cuda_import {

/// One argument of a kernel.
struct KernelArgument {
  enum class Kind : uint8_t { Tensor, Integer, Scalar, Real } kind = Kind::Integer;
  std::string name;  // name of the tensor or the scalar
  TermRef term;
  double real = 0;
};

struct Extents {
  TermRef x = number(1), y = number(1), z = number(1);
};

struct RecordedLaunch {
  std::string kernel;  // as launched, with its template arguments
  std::string base;    // the function's name in the outline
  int line = 0, column = 0;
  Extents grid, block;
  TermRef shared = number(0);
  bool cooperative = false;
  std::vector<KernelArgument> arguments;
  int repeat = -1;  // index into Path::repeats
};

struct RecordedRepeat {
  std::string name;
  TermRef begin, end;
};

/// Memory that the launcher allocates.
struct RecordedScratch {
  std::string name;
  tensor::DType dtype = tensor::DType::Uint8;
  TermRef count;
  bool zero = false;
};

struct Path {
  std::vector<TermRef> conditions;  // all must hold
  std::vector<TermRef> domain;      // so must these: numbers of the host stay within their types
  std::vector<RecordedLaunch> launches;
  std::vector<RecordedRepeat> repeats;
  std::vector<RecordedScratch> scratch;
  bool refused = false;  // ends with exit() or throw
};

/// Kernels that replace runtime calls; import adds those that are used.
inline constexpr const char* kSetBytes = "import_set_bytes";
inline constexpr const char* kCopyBytes = "import_copy_bytes";

/// A launch of one of them over `bytes` bytes; `arguments` are all arguments except the last.
RecordedLaunch bytes_launch_of(const char* kernel, std::vector<KernelArgument> arguments,
                               const TermRef& bytes);

}  // namespace kw::cuda_import
