// The memory a program's kernels address: tensors and module variables, each a region with its
// stamps. Host threads work on forks that share the data and keep stamps of their own.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "kernel/program.h"
#include "vgpu/state.h"

namespace kw::vgpu {

/// What messages need to know about a region.
struct RegionInfo {
  std::string name;
  int buffer = -1;    // index into Program::buffers, or -1: a module variable
  int variable = -1;  // index into Module::variables
  int element_bytes = 1;
  int64_t elements = 0;
};

class Regions {
 public:
  Regions();
  Regions(Regions&&) = default;
  Regions& operator=(Regions&&) = default;

  /// Appends a region of `bytes` zero bytes; false when memory cannot be had. Index 0 is never
  /// used.
  bool add(RegionInfo info, uint64_t bytes);
  /// Leaves out numbers, so that the next region has this one.
  void skip_to(uint32_t number);
  uint32_t count() const { return static_cast<uint32_t>(rows_.size()); }
  Region* rows() { return rows_.data(); }
  Region& row(uint32_t number) { return rows_[number]; }
  const RegionInfo& info(uint32_t number) const { return (*infos_)[number]; }

  /// The same data with fresh stamps. `this` must outlive the fork.
  Regions fork();

  /// Stamp arrays come into being when first needed. Throws std::bad_alloc.
  void ensure_writes(Region& region);
  void ensure_reads(Region& region);
  void ensure_undefined(Region& region);
  /// Makes units at most 2^unit_log2 bytes, keeping all stamps.
  void refine(Region& region, int unit_log2);

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  void* allocate(uint64_t bytes);
  uint64_t* split(uint64_t* old, uint64_t units, int factor_log2);

  std::vector<Region> rows_;
  std::shared_ptr<std::vector<RegionInfo>>
      infos_;  // shared by forks, never changed after the first fork
  std::vector<std::unique_ptr<void, Free>> owned_;
};

uint64_t unit_count(const Region& region);

}  // namespace kw::vgpu
