#include "vgpu/regions.h"

#include <new>

#include "vgpu/address.h"

namespace kw::vgpu {

uint64_t unit_count(const Region& region) {
  return (region.size + (uint64_t{1} << region.unit_log2) - 1) >> region.unit_log2;
}

Regions::Regions() : infos_(std::make_shared<std::vector<RegionInfo>>()) { skip_to(kFirstRegion); }

void* Regions::allocate(uint64_t bytes) {
  void* p = std::calloc(bytes + 64, 1);
  if (p == nullptr) throw std::bad_alloc();
  owned_.emplace_back(p);
  return p;
}

void Regions::skip_to(uint32_t number) {
  rows_.resize(number);
  infos_->resize(number);
}

bool Regions::add(RegionInfo info, uint64_t bytes) {
  Region region;
  void* data = std::calloc(bytes + 64, 1);
  if (data == nullptr) return false;
  owned_.emplace_back(data);
  region.data = static_cast<std::byte*>(data);
  region.size = bytes;
  region.base = region_address(count());
  rows_.push_back(region);
  infos_->push_back(std::move(info));
  return true;
}

Regions Regions::fork() {
  Regions copy;
  copy.rows_ = rows_;
  copy.infos_ = infos_;
  for (Region& region : copy.rows_) {
    region.writes = region.reads = region.readers = nullptr;
    region.unit_log2 = 4;
  }
  return copy;
}

void Regions::ensure_writes(Region& region) {
  if (region.writes == nullptr)
    region.writes = static_cast<uint64_t*>(allocate(8 * unit_count(region)));
}

void Regions::ensure_reads(Region& region) {
  if (region.reads != nullptr) return;
  region.reads = static_cast<uint64_t*>(allocate(8 * unit_count(region)));
  region.readers = static_cast<uint64_t*>(allocate(8 * unit_count(region)));
}

void Regions::ensure_undefined(Region& region) {
  if (region.undefined == nullptr)
    region.undefined = static_cast<std::byte*>(allocate(region.size));
}

uint64_t* Regions::split(uint64_t* old, uint64_t units, int factor_log2) {
  if (old == nullptr) return nullptr;
  auto* finer = static_cast<uint64_t*>(allocate(8 * (units << factor_log2)));
  for (uint64_t i = 0; i < units << factor_log2; ++i) finer[i] = old[i >> factor_log2];
  for (auto& memory : owned_) {
    if (memory.get() == old) memory.reset();
  }
  return finer;
}

void Regions::refine(Region& region, int unit_log2) {
  const int factor = region.unit_log2 - unit_log2;
  if (factor <= 0) return;
  const uint64_t units = unit_count(region);
  region.writes = split(region.writes, units, factor);
  region.reads = split(region.reads, units, factor);
  region.readers = split(region.readers, units, factor);
  region.unit_log2 = static_cast<uint8_t>(unit_log2);
}

}  // namespace kw::vgpu
