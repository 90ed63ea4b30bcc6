#include "compile/cubin.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace kw::compile {
namespace {

template <typename T>
std::optional<T> read_at(std::string_view bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::string_view section_bytes(std::string_view file, const Elf64_Shdr& section) {
  if (section.sh_type == SHT_NOBITS || section.sh_offset > file.size()) return {};
  return file.substr(section.sh_offset, section.sh_size);
}

/// The product of the three sizes in a MAX_THREADS or REQNTID attribute; 0 when there is none. An
/// attribute is a format byte, a code byte and a 16-bit value. For one format the value is the
/// length of the data that follows.
int threads_in(std::string_view info) {
  constexpr uint8_t kSized = 4, kMaxThreads = 0x05, kRequiredThreads = 0x10;
  uint64_t at = 0;
  while (const auto length = read_at<uint16_t>(info, at + 2)) {
    const auto format = static_cast<uint8_t>(info[at]), code = static_cast<uint8_t>(info[at + 1]);
    at += 4;
    if (format != kSized) continue;
    if ((code == kMaxThreads || code == kRequiredThreads) && *length >= 12) {
      uint64_t product = 1;
      for (int i = 0; i < 3; ++i)
        product *=
            std::max(read_at<uint32_t>(info, at + 4 * static_cast<uint64_t>(i)).value_or(0), 1U) &
            0xffff;
      return static_cast<int>(std::min<uint64_t>(product, INT32_MAX));
    }
    at += *length;
  }
  return 0;
}

}  // namespace

std::map<std::string, int> launch_bounds_of(std::string_view cubin) {
  constexpr std::string_view kPrefix = ".nv.info.";
  std::map<std::string, int> bounds;
  const auto header = read_at<Elf64_Ehdr>(cubin, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64) {
    return bounds;
  }
  const auto section = [&](uint64_t index) {
    return read_at<Elf64_Shdr>(cubin, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  const auto names_section = section(header->e_shstrndx);
  if (!names_section || header->e_shoff > cubin.size()) return bounds;
  const std::string_view names = section_bytes(cubin, *names_section);
  for (uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto each = section(i);
    if (!each || each->sh_name >= names.size()) continue;
    std::string_view name = names.substr(each->sh_name);
    name = name.substr(0, name.find('\0'));
    if (!name.starts_with(kPrefix)) continue;
    const int threads = threads_in(section_bytes(cubin, *each));
    if (threads > 0) bounds[std::string(name.substr(kPrefix.size()))] = threads;
  }
  return bounds;
}

}  // namespace kw::compile
