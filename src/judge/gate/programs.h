// Makes a module runnable on one device, shape by shape. Variants that need the same kernels share
// one compile and one loaded image.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "inputs/immediates.h"
#include "kernel/instantiate.h"
#include "ports/compiler.h"
#include "ports/device.h"
#include "shapes/binding.h"
#include "shapes/launch_conditions.h"
#include "shapes/module_shapes.h"
#include "shapes/thresholds.h"

namespace kw::gate {

/// Exactly one of the four members is set.
struct Built {
  struct Ready {
    ports::ImageId image = 0;
    kernel::Program program;
    int group = 0;  // the launch group, an index into Module::groups
  };
  std::optional<Ready> ready;
  std::string not_served;                      // outside the module's domain or the target's limits
  std::optional<ports::CompileFailed> failed;  // the candidate does not compile
  std::string not_loaded;                      // the device cannot load the image
};

class Programs {
 public:
  /// All references must outlive this object. `fixed` has the target, the tunables and the device's
  /// limits.
  Programs(const kernel::Module& module, ports::Compiler& compiler, ports::Device& device,
           kernel::Bindings fixed, double timeout_seconds)
      : module_(module),
        compiler_(compiler),
        device_(device),
        fixed_(std::move(fixed)),
        timeout_seconds_(timeout_seconds),
        kind_(device.info().image) {}

  ports::Device& device() { return device_; }
  const kernel::Module& module() const { return module_; }
  /// Returns whether the module serves a shape: dims, scalars, launch group. Compiles nothing.
  Result<kernel::Selection> select(const shapes::Matching& matching, const task::Task& task,
                                   const graph::Graph& graph, const task::Dims& dims);
  /// An Error is a failure of the machine, not of the candidate.
  Result<Built> build(const shapes::Matching& matching, const task::Task& task,
                      const graph::Graph& graph, const task::Dims& dims);

  int compiles() const { return compiles_; }
  double compile_seconds() const { return compile_seconds_; }
  const std::string& compiler_name() const { return compiler_name_; }
  /// Returns everything compiled so far, without the image bytes.
  std::vector<const ports::Compiled*> compiled() const;
  /// Returns whether its PTX adds fp32 numbers atomically in global memory.
  bool adds_in_memory() const { return adds_in_memory_; }
  /// Returns the constants of all PTX compiled so far.
  const inputs::Immediates& immediates() const { return immediates_; }
  /// What the code that a shape runs compares with; nothing where the device does not take PTX.
  /// Compiles it if it is new. An Error is a failure of the machine.
  Result<shapes::VariantCode> code_at(const shapes::Matching& matching, const task::Task& task,
                                      const shapes::ShapeCase& shape);
  /// Adds what a run of an image did; see one_way_branches().
  void note_branches(ports::ImageId image, const std::vector<ports::BranchWays>& launches);
  /// Branches that were reached and always went the same way, over all runs so far; branches that
  /// no run reached count, too. By line of the module.
  std::vector<int> one_way_branches() const;

 private:
  struct Image {
    ports::Compiled compiled;  // without its bytes
    ports::ImageId id = 0;
    std::optional<ports::CompileFailed> failed;
    std::string not_loaded;
    shapes::CodeExtents extents;
    std::map<int, std::vector<shapes::Threshold>> thresholds;  // by launch group
    std::map<int, std::vector<shapes::LaunchConditions>> conditions;
  };
  Result<const Image*> image_for(const kernel::Selection& selection);
  Result<ports::CompileOutcome> compile(const kernel::Selection& selection);
  void note_ptx(const ports::Compiled& compiled, Image* image);

  const kernel::Module& module_;
  ports::Compiler& compiler_;
  ports::Device& device_;
  kernel::Bindings fixed_;
  double timeout_seconds_;
  ports::ImageKind kind_;
  std::map<std::string, Image> images_;
  std::map<std::pair<ports::ImageId, std::string>, ports::BranchWays> branches_;
  std::string compiler_name_;
  bool adds_in_memory_ = false;
  inputs::Immediates immediates_;
  int compiles_ = 0;
  double compile_seconds_ = 0;
};

/// Returns the data for each buffer of a program. It points into `inputs`, which must outlive it.
/// `hashes` of the inputs may be empty.
ports::InputViews program_inputs(const kernel::Program& program, const shapes::Matching& matching,
                                 const std::vector<tensor::HostTensor>& inputs,
                                 const std::vector<uint64_t>& hashes = {});

}  // namespace kw::gate
