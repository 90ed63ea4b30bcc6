// The memory that a program's kernels address: tensors and module variables, each a region with its
// stamps. Host threads work on forks that share the data and have their own stamps.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "kernel/program.h"
#include "vgpu/address.h"
#include "vgpu/state.h"

namespace kw::vgpu {

/// What messages need about a region.
struct RegionInfo {
  std::string name;
  int buffer = -1;     // index into Program::buffers; -1: a module variable
  int variable = -1;   // index into Module::variables
  uint64_t shift = 0;  // offset of its address from the most aligned one
  int element_bytes = 1;
  int64_t elements = 0;
};

class Regions {
 public:
  explicit Regions(const AddressMap& map = {});
  Regions(Regions&&) = default;
  Regions& operator=(Regions&&) = default;

  /// Appends a region of `bytes` zero bytes. Index 0 is never used. Throws std::bad_alloc.
  void add(RegionInfo info, uint64_t bytes);
  /// Appends a region over zeroed bytes of the caller. There may be 64 bytes more than `size`.
  void add_borrowed(RegionInfo info, std::byte* bytes, uint64_t size);
  /// Appends a region over bytes of the caller. They are only read and must outlive this object.
  void add_view(RegionInfo info, const std::byte* bytes, uint64_t size);
  /// Leaves out region numbers, so that the next region gets this number.
  void skip_to(uint32_t number);
  const AddressMap& map() const { return map_; }
  uint32_t count() const { return static_cast<uint32_t>(rows_.size()); }
  MemoryRegion* rows() { return rows_.data(); }
  MemoryRegion& row(uint32_t number) { return rows_[number]; }
  const MemoryRegion& row(uint32_t number) const { return rows_[number]; }
  const RegionInfo& info(uint32_t number) const { return (*infos_)[number]; }

  /// Shares the data and starts with empty stamps. `this` must outlive the fork.
  Regions fork();

  /// Allocates a stamp array if it does not exist yet. Throws std::bad_alloc.
  void ensure_writes(MemoryRegion& region);
  void ensure_reads(MemoryRegion& region);
  void ensure_undefined(MemoryRegion& region);
  /// Makes units at most 2^unit_log2 bytes and keeps all stamps.
  void refine(MemoryRegion& region, int unit_log2);

 private:
  /// Zeroed pages directly from the system, large ones if it has them. Faults on small pages would
  /// cost more than kernels.
  class Pages {
   public:
    explicit Pages(uint64_t bytes);  // throws std::bad_alloc
    Pages(Pages&& other) noexcept : p_(other.p_), mapped_(other.mapped_), bytes_(other.bytes_) {
      other.mapped_ = nullptr;
    }
    Pages& operator=(Pages&&) = delete;
    ~Pages();
    void* get() const { return p_; }

   private:
    void* p_ = nullptr;
    void* mapped_ = nullptr;
    uint64_t bytes_ = 0;
  };
  void* allocate(uint64_t bytes);
  uint64_t* split(uint64_t* old, uint64_t units, int factor_log2);

  AddressMap map_;
  std::vector<MemoryRegion> rows_;
  /// Shared by forks; never changed after the first fork.
  std::shared_ptr<std::vector<RegionInfo>> infos_;
  std::list<Pages> owned_;
};

uint64_t unit_count(const MemoryRegion& region);

/// Asks the system for large pages under memory that is not touched yet.
void request_large_pages(void* begin, uint64_t bytes);

}  // namespace kw::vgpu
