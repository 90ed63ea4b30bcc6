// What the kernels of all schedules have in common: names with the region's suffix, tunables and
// the methods they switch, signatures, variants for 32-bit and 64-bit indices with and without
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

/// A __global__ function that has been written: its name, and what every launch passes to it.
struct Function {
  std::string name;
  std::vector<std::string> args;

  /// `templates`: "int, VEC".
  Launch launch(const std::string& templates, const std::string& grid, const std::string& block,
                const std::string& shared = "") const;
};

/// Parameters beyond buffers and dims: declaration and argument.
using Parameters = std::vector<std::pair<std::string, std::string>>;

/// What a variant instantiates its kernels with.
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

  /// A tunable's or a let's name in this region: "THREADS_2".
  std::string name(const char* text) const { return text + region_.suffix; }
  /// The first result's name, and those of all.
  const std::string& result() const { return region_.stores[0].to.name; }
  std::string results() const;

  /// A tunable, best guess first; `where`: which values go with those of others. Gives its name.
  std::string tune(const char* text, const Values& values, const std::string& where = "");
  /// A method that is on where a tunable is above 1.
  void method_of(const char* id, const char* text) {
    method(id, name(text) + " > 1", name(text) + "=1");
  }
  /// A tunable whose value 1 switches a method off, where it has other values.
  void tune_method(const char* id, const char* text, const Values& values);
  /// The width of packs, VEC, and its method.
  void vectors(const Values& values) { tune_method("memory.vectorized_access", "VEC", values); }
  void unroll(const Values& values) {
    tune_method("compute.ilp_unroll_register_tile", "UNROLL", values);
  }
  /// A tunable, 1 or 0, that switches a method.
  void switch_method(const char* id, const char* text);
  void method(const std::string& id, const std::string& when = "", const std::string& off = "");
  void methods(std::initializer_list<const char*> ids);
  std::string let(const char* text, const std::string& value);
  /// Lets `text` be `count`, how many packs a thread keeps, and gives the name of that number
  /// rounded up to one of few, for each of which a kernel is compiled.
  std::string items(const char* text, const std::string& count);
  void scratch(const std::string& name, tensor::DType dtype, const std::string& extent,
               const std::string& fill = "");

  /// Helpers that bodies call beyond those that emitters noted.
  void need(const std::vector<std::string>& functions);
  /// Device code as it is.
  void device(const std::string& text) { kernel_.source += text; }
  std::set<std::string>& functions() { return kernel_.functions; }
  /// A __global__ function whose parameters are what the emitter used, then `more`. `what`: its
  /// comment. `bounds`: "THREADS" or "".
  Function function(const Emitter& e, const std::string& what, const std::string& name,
                    const std::string& templates, const std::string& bounds,
                    const std::string& body, const Parameters& more = {});

  /// Launches that are right wherever all conditions hold; fastest first.
  void variant(const std::vector<std::string>& when, std::vector<Launch> launches);
  /// Aligned packs where `aligned` holds (only where `packed`), single elements, and 64-bit indices
  /// where 32 bits may be too few. `always`: what must hold besides.
  void each_variant(bool packed, std::vector<std::string> aligned, const Launches& launches,
                    const std::string& always = "");
  /// The same for packs that lie along `extent`, a factor.
  void each_variant(bool packed, const Packs& packs, const std::string& extent,
                    const Launches& launches, const std::string& always = "");
  /// For 32-bit and 64-bit indices.
  void each_index(const Launches& launches) { each_variant(false, {}, launches); }
  bool has_variants() const { return !kernel_.variants.empty(); }
  /// Puts a variant in front of all others.
  void put_first(const std::string& when, const Launch& instead_of_first);

  /// The kernel; beside other kernels with fewer values (finalize.h).
  Kernel finish();
  /// The kernel with all values of its tunables, which are few already.
  Kernel take() { return std::move(kernel_); }

 private:
  const Region& region_;
  const TargetContext& context_;
  Kernel kernel_;
};

}  // namespace kw::generate
