// The port of the compilers NVRTC, nvcc and clang: takes device source, returns PTX or a cubin.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "kernel/select.h"

namespace kw::ports {

enum class ImageKind : uint8_t { Ptx, Cubin };

struct CompileRequest {
  std::string source;     // the unchanged text of the module; `//!` lines are comments
  std::string file_name;  // shown in diagnostics, e.g. "rms_norm.cu"
  std::string target;     // "sm_90", "sm_90a", …
  ImageKind image = ImageKind::Ptx;
  std::vector<std::pair<std::string, int64_t>> defines;  // tunables, injected after the includes
  std::vector<std::string> kernels;          // name expressions to instantiate: "rms_norm<256, 2>"
  std::vector<std::string> include_folders;  // in addition to the compiler's own
  double timeout_seconds = 60;
  bool apart = false;  // may compile kernels one by one; then a cubin may be a pack
};

/// The request for the kernels of a selection.
CompileRequest compile_request(const kernel::Module& module, const kernel::Selection& selection,
                               const std::string& target, double timeout_seconds);

/// What the compiler reported about one kernel. -1: not reported.
struct KernelResources {
  int registers = -1;
  int64_t static_shared = -1, local_bytes = -1, spill_store_bytes = -1, spill_load_bytes = -1,
          stack_bytes = -1;
  int64_t constant_bytes = -1;
  int max_threads = -1;  // from __launch_bounds__
};

struct CompiledKernel {
  std::string expression;  // as requested
  std::string entry;       // symbol in the image
  std::string signature;   // demangled: "void rms_norm<256, 2>(__half const*, __half*, int, float)"
  KernelResources resources;
};

/// One line of the compiler's log, mapped to lines of the module (line 0: not in the module).
struct CompileMessage {
  enum class Severity : uint8_t { Error, Warning, Note } severity = Severity::Error;
  int line = 0;
  int column = 0;
  std::string text;
};

struct Compiled {
  ImageKind kind = ImageKind::Ptx;
  std::string image;  // PTX text or cubin bytes
  std::string target;
  std::string compiler;  // "NVRTC 13.0.88", "clang 19.1.7"
  std::vector<CompiledKernel> kernels;
  std::vector<CompileMessage> messages;  // warnings
  double seconds = 0;
  bool from_cache = false;
};

/// The candidate does not compile. This is an ordinary outcome.
struct CompileFailed {
  std::string compiler;
  std::vector<CompileMessage> messages;
  std::string log;  // complete, as printed
  bool timed_out = false;
  bool crashed = false;  // the compiler crashed or ran out of memory on this source
};

/// The compiler message to show first.
std::string first_error(const CompileFailed& failed);

struct CompileOutcome {
  std::optional<Compiled> compiled;
  std::optional<CompileFailed> failed;  // exactly one of the two
};

class Compiler {
 public:
  virtual ~Compiler();
  /// "NVRTC 13.0.88 (/usr/local/cuda/lib64/libnvrtc.so.13)".
  virtual std::string name() const = 0;
  /// Returns an Error only when the candidate is not the cause.
  virtual Result<CompileOutcome> compile(const CompileRequest& request) = 0;
  /// Notes for the user on how the compiler works here, e.g. that caching is not possible. Grows
  /// with use.
  virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace kw::ports
