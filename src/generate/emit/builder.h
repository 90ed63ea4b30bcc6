// Builds the parts that the kernels of all schedules share: names with the region's suffix,
// tunables and their methods, signatures, variants for 32-bit and 64-bit indices with and without
// packs. A schedule adds its bodies and its grids.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "emit/kernel.h"
#include "emit/packs.h"
#include "emit/target_context.h"

namespace kw::generate {

/// A finished __global__ function: its name, and the arguments of every launch.
struct DeviceFunction {
  std::string name;
  std::vector<std::string> args;

  /// `templates` is a text such as "int, VEC".
  Launch launch(const std::string& templates, const std::string& grid, const std::string& block,
                const std::string& shared = "") const;
};

/// Parameters other than buffers and dims: declaration and argument.
using Parameters = std::vector<std::pair<std::string, std::string>>;

/// The template arguments of a variant's kernels.
struct Instance {
  std::string index;    // "int", "long long"
  std::string vec;      // the width of packs: VEC's name, or "1"
  bool packed = false;  // whether loads are aligned packs

  std::string types() const { return index + ", " + vec; }
};

class KernelBuilder {
 public:
  using Values = std::vector<int64_t>;
  using Launches = std::function<std::vector<Launch>(const Instance&)>;

  KernelBuilder(const Region& region, const TargetContext& context)
      : region_(region), context_(context) {}

  /// The name of a tunable or a let in this region: "THREADS_2".
  std::string name(const char* text) const { return text + region_.suffix; }
  /// The name of the first result; results() has the names of all.
  const std::string& result() const { return region_.stores[0].to.name; }
  std::string results() const;

  /// Adds a tunable, best guess first; `where` limits its combinations with other tunables. Returns
  /// its name.
  std::string tune(const char* text, const Values& values, const std::string& where = "");
  /// A method that is on if a tunable is above 1.
  void method_of(const char* id, const char* text) {
    method(id, name(text) + " > 1", name(text) + "=1");
  }
  /// Adds a tunable whose value 1 switches a method off, if it has other values.
  void tune_method(const char* id, const char* text, const Values& values);
  /// Adds VEC, the width of packs, and its method.
  void vectors(const Values& values) { tune_method("memory.vectorized_access", "VEC", values); }
  void unroll(const Values& values) {
    tune_method("compute.ilp_unroll_register_tile", "UNROLL", values);
  }
  /// Adds a tunable, 1 or 0, that switches a method.
  void switch_method(const char* id, const char* text);
  void method(const std::string& id, const std::string& when = "", const std::string& off = "");
  void methods(std::initializer_list<const char*> ids);
  std::string let(const char* text, const std::string& value);
  /// Defines `text` as `count`, the number of packs per thread. Returns the name of that number
  /// rounded up to one of a few values; a kernel is compiled for each of them.
  std::string items(const char* text, const std::string& count);
  void scratch(const std::string& name, DType dtype, const std::string& extent,
               const std::string& fill = "");

  /// Adds helpers that bodies call, in addition to those that emitters noted.
  void need(const std::vector<std::string>& functions);
  /// Appends device code unchanged.
  void device(const std::string& text) { kernel_.source += text; }
  std::set<std::string>& functions() { return kernel_.functions; }
  /// Adds a __global__ function whose parameters are what the emitter used, then `more`. `what` is
  /// its comment; `bounds` is "THREADS" or "".
  DeviceFunction function(const Emitter& e, const std::string& what, const std::string& name,
                          const std::string& templates, const std::string& bounds,
                          const std::string& body, const Parameters& more = {});

  /// Adds launches that are correct if all conditions hold; the fastest must be added first.
  void variant(const std::vector<std::string>& when, std::vector<Launch> launches);
  /// Adds variants: aligned packs if `aligned` holds (only if `packed`), single elements, and
  /// 64-bit indices if 32 bits may be too few. `always` is an additional condition.
  void each_variant(bool packed, std::vector<std::string> aligned, const Launches& launches,
                    const std::string& always = "");
  /// The same for packs along `extent`, a factor.
  void each_variant(bool packed, const Packs& packs, const std::string& extent,
                    const Launches& launches, const std::string& always = "");
  /// Variants for 32-bit and 64-bit indices.
  void each_index(const Launches& launches) { each_variant(false, {}, launches); }
  bool has_variants() const { return !kernel_.variants.empty(); }
  /// Puts a variant before all others.
  void put_first(const std::string& when, const Launch& instead_of_first);

  /// Returns the kernel; in modules with other kernels, with fewer values (finalize.h).
  Kernel finish();
  /// Returns the kernel with all values of its tunables; for kernels with few values.
  Kernel take() { return std::move(kernel_); }

 private:
  const Region& region_;
  const TargetContext& context_;
  Kernel kernel_;
};

}  // namespace kw::generate
