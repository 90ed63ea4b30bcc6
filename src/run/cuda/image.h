// A PTX text, a cubin or a pack of cubins loaded into a context: its kernels with their attributes,
// and its writable globals.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "cuda/context.h"
#include "record/finding.h"

namespace kw::cuda {

struct LoadedFunction {
  CuFunction handle = nullptr;
  std::string entry;
  int max_threads = 0;
  int registers = 0;
  int static_shared = 0;
  int local_bytes = 0;
  int max_dynamic_shared = 0;       // as set so far
  bool params_known = false;        // false with older drivers
  std::vector<size_t> param_bytes;  // of each parameter, when known
};

class LoadedImage {
 public:
  /// Blame::Input with the driver's log when the driver rejects the image.
  static Result<std::unique_ptr<LoadedImage>> load(const Context& context, ports::ImageKind kind,
                                                   std::string_view image);
  ~LoadedImage();
  LoadedImage(const LoadedImage&) = delete;
  LoadedImage& operator=(const LoadedImage&) = delete;

  /// The kernel of that name, looked up once.
  FaultOr<LoadedFunction*> function(const std::string& entry);
  /// Compares the module's writable globals with their values after loading. Restores and reports
  /// each change.
  FaultOr<std::vector<record::Finding>> check_globals();

 private:
  struct Global {
    std::string name;
    CuDevicePtr address = 0;
    std::string initial;
  };
  explicit LoadedImage(const Context& context) : context_(context) {}
  Status add_module(ports::ImageKind kind, std::string_view image);
  void remember_globals(CuModule module, const std::vector<std::string>& names);

  const Context& context_;
  std::vector<CuModule> modules_;  // several for a pack (ports/image_pack.h)
  std::map<std::string, LoadedFunction> functions_;
  std::vector<Global> globals_;
};

/// Blame::Input when the bytes are not of this kind. The driver trusts the lengths inside an ELF
/// file, so a truncated one must not reach it.
Status check_image(ports::ImageKind kind, std::string_view image);
/// Names of the variables in a cubin's writable global sections. Empty if it is not a cubin.
std::vector<std::string> cubin_globals(std::string_view image);
/// Names of the variables that a PTX text declares in the global state space.
std::vector<std::string> ptx_globals(std::string_view text);

}  // namespace kw::cuda
