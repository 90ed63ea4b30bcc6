#include "vgpu/regions.h"

#include <sys/mman.h>

#include <bit>
#include <new>

#include "vgpu/address.h"

namespace kw::vgpu {
namespace {
constexpr uint64_t kLargePages = uint64_t{1} << 21;
constexpr uint64_t kMaxBytes = uint64_t{1} << 46;

// Units start at the region's base, and accesses are at multiples of their size. So no unit may be
// larger than the alignment of the region's address.
uint8_t coarsest_unit(const MemoryRegion& region) {
  return static_cast<uint8_t>(std::countr_zero(region.base | 16));
}
}  // namespace

uint64_t unit_count(const MemoryRegion& region) {
  return (region.size + (uint64_t{1} << region.unit_log2) - 1) >> region.unit_log2;
}

void request_large_pages(void* begin, uint64_t bytes) {
  constexpr uint64_t kPage = 4096;
  if (bytes < kLargePages) return;
  const uint64_t at = reinterpret_cast<uint64_t>(begin), first = (at + kPage - 1) / kPage * kPage;
  madvise(reinterpret_cast<void*>(first), (at + bytes - first) / kPage * kPage, MADV_HUGEPAGE);
}

Regions::Regions(const AddressMap& map)
    : map_(map), infos_(std::make_shared<std::vector<RegionInfo>>()) {
  skip_to(kFirstRegion);
}

Regions::Pages::Pages(uint64_t bytes) : bytes_(bytes) {
  // Large pages need an aligned start; unused address space costs nothing.
  const uint64_t slack = bytes >= kLargePages ? kLargePages : 0;
  bytes_ += slack;
  mapped_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped_ == MAP_FAILED) {
    mapped_ = nullptr;
    throw std::bad_alloc();
  }
  const uint64_t at = reinterpret_cast<uint64_t>(mapped_);
  const uint64_t start = slack != 0 ? (at + slack - 1) / kLargePages * kLargePages : at;
  p_ = reinterpret_cast<void*>(start);
  request_large_pages(p_, bytes);
}

Regions::Pages::~Pages() {
  if (mapped_ != nullptr) munmap(mapped_, bytes_);
}

void* Regions::allocate(uint64_t bytes) {
  if (bytes > kMaxBytes) throw std::bad_alloc();
  owned_.emplace_back(bytes + 64);
  return owned_.back().get();
}

void Regions::skip_to(uint32_t number) {
  rows_.resize(number);
  infos_->resize(number);
}

void Regions::add(RegionInfo info, uint64_t bytes) {
  add_borrowed(std::move(info), static_cast<std::byte*>(allocate(bytes)), bytes);
}

void Regions::add_view(RegionInfo info, const std::byte* bytes, uint64_t size) {
  // Not writable: no kernel stores there.
  add_borrowed(std::move(info), const_cast<std::byte*>(bytes), size);
}

void Regions::add_borrowed(RegionInfo info, std::byte* bytes, uint64_t size) {
  MemoryRegion region;
  region.data = bytes;
  region.size = size;
  region.base = map_.region_address(count()) + info.shift;
  region.unit_log2 = coarsest_unit(region);
  rows_.push_back(region);
  infos_->push_back(std::move(info));
}

Regions Regions::fork() {
  Regions copy(map_);
  copy.rows_ = rows_;
  copy.infos_ = infos_;
  for (MemoryRegion& region : copy.rows_) {
    region.writes = region.reads = region.readers = nullptr;
    region.unit_log2 = coarsest_unit(region);
  }
  return copy;
}

void Regions::ensure_writes(MemoryRegion& region) {
  if (region.writes == nullptr)
    region.writes = static_cast<uint64_t*>(allocate(8 * unit_count(region)));
}

void Regions::ensure_reads(MemoryRegion& region) {
  if (region.reads != nullptr) return;
  region.reads = static_cast<uint64_t*>(allocate(8 * unit_count(region)));
  region.readers = static_cast<uint64_t*>(allocate(8 * unit_count(region)));
}

void Regions::ensure_undefined(MemoryRegion& region) {
  if (region.undefined == nullptr)
    region.undefined = static_cast<std::byte*>(allocate(region.size));
}

uint64_t* Regions::split(uint64_t* old, uint64_t units, int factor_log2) {
  if (old == nullptr) return nullptr;
  auto* finer = static_cast<uint64_t*>(allocate(8 * (units << factor_log2)));
  for (uint64_t i = 0; i < units << factor_log2; ++i) finer[i] = old[i >> factor_log2];
  owned_.remove_if([old](const Pages& pages) { return pages.get() == old; });
  return finer;
}

void Regions::refine(MemoryRegion& region, int unit_log2) {
  const int factor = region.unit_log2 - unit_log2;
  if (factor <= 0) return;
  const uint64_t units = unit_count(region);
  region.writes = split(region.writes, units, factor);
  region.reads = split(region.reads, units, factor);
  region.readers = split(region.readers, units, factor);
  region.unit_log2 = static_cast<uint8_t>(unit_log2);
}

}  // namespace kw::vgpu
