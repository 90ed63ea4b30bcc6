// What every corpus program needs of the machine, opened once: a compiler, and virtual GPUs by
// target.
#pragma once

#include <memory>
#include <string>

#include "ports/compiler.h"
#include "ports/device.h"
#include "run.h"

namespace kw::corpus {

class Tools {
 public:
  /// `compiler` as for machine::open_compiler; "" takes $KW_TEST_COMPILER, and without it the first
  /// one found.
  explicit Tools(const std::string& compiler = "");

  /// Why there is no compiler; "" when there is one.
  const std::string& problem() const { return problem_; }
  ports::Compiler& compiler() { return *compiler_; }
  /// clang with our own small device header serves only plain modules.
  bool can_compile(const Entry& entry) const;
  /// A workbench on a virtual GPU; kept, so that images are compiled once.
  Workbench& virtual_bench(const std::string& target);

 private:
  struct Bench {
    std::unique_ptr<ports::Device> device;
    std::unique_ptr<Workbench> bench;
  };
  std::string problem_;
  std::unique_ptr<ports::Compiler> compiler_;
  std::map<std::string, Bench> benches_;
};

}  // namespace kw::corpus
