// Takes a module of the corpus through a compiler and a device: bind, compile (once per set of
// tunables), load, run.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "case.h"
#include "compare.h"
#include "core/result.h"
#include "kernel/instantiate.h"
#include "kernel/module.h"
#include "kernel/program.h"
#include "ports/compiler.h"
#include "ports/device.h"

namespace kw::corpus {

/// A module at one setting, ready to run on one device.
struct Prepared {
  kernel::Program program;
  ports::ImageId image = 0;
  std::set<std::string> open_bits;  // what in its PTX leaves bits open: "ex2.approx"
};

class Workbench {
 public:
  /// Both outlive this. `target` as "sm_90".
  Workbench(ports::Compiler& compiler, ports::Device& device, std::string target)
      : compiler_(compiler), device_(device), target_(std::move(target)) {}

  /// Compile errors become input Errors that carry the log.
  Result<Prepared> prepare(const kernel::Module& module, const Setting& setting);
  /// Outputs come back parallel to the program's buffers.
  Result<ports::RunOutcome> run(const Prepared& prepared,
                                const std::vector<tensor::HostTensor>& inputs,
                                const ports::RunOptions& options = {});

 private:
  struct Image {
    ports::ImageId id = 0;
    std::set<std::string> open_bits;
    std::vector<kernel::KernelInfo> kernels;
  };
  Result<Image> image_for(const kernel::Module& module, const kernel::Selection& selection);

  ports::Compiler& compiler_;
  ports::Device& device_;
  std::string target_;
  std::map<std::string, Image> images_;
};

/// What the device made of a case against what the reference says, over all outputs and inouts.
Comparison compare_outputs(const kernel::Program& program, const ports::RunOutcome& outcome,
                           const std::vector<tensor::HostTensor>& want, const Entry& entry);
/// The findings a correct entry should not have.
std::vector<record::Finding> unexpected(const Entry& entry,
                                        const std::vector<record::Finding>& findings);
/// "kind at file:line: message" for each finding, one per line.
std::string findings_text(const std::vector<record::Finding>& findings);

}  // namespace kw::corpus
