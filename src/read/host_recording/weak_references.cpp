#include "host_recording/weak_references.h"

#include <elf.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/text.h"

namespace kw::host_recording {
namespace {

/// A copy of a structure of the image; empty if it is not all there.
template <typename Type>
std::optional<Type> read_at(std::string_view image, uint64_t offset) {
  if (offset > image.size() || image.size() - offset < sizeof(Type)) return std::nullopt;
  Type out;
  std::memcpy(&out, image.data() + offset, sizeof(Type));
  return out;
}

/// References that compilers and their libraries make, and our own.
bool of_a_compiler(std::string_view name) {
  for (const char* one : {"_ITM_", "__gmon_start__", "__cxa_", "_ZGT", "__pthread", "pthread_",
                          "_Jv_", "__sanitizer", "__asan", "__tls_get_addr", "__dso_handle"}) {
    if (name.starts_with(one)) return true;
  }
  return name.empty() || name == "kw_extension_bind";  // the last is the shim's own
}

}  // namespace

std::string asks_whether(const std::string& name) {
  return fmt::format("it asks whether {} exists, which is not the same everywhere",
                     printable(name));
}

std::vector<std::string> weak_references(std::string_view library) {
  std::vector<std::string> out;
  const auto head = read_at<Elf64_Ehdr>(library, 0);
  if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return out;
  for (uint64_t i = 0; i < head->e_shnum; ++i) {
    const auto table = read_at<Elf64_Shdr>(library, head->e_shoff + i * sizeof(Elf64_Shdr));
    if (!table || table->sh_type != SHT_DYNSYM) continue;
    const auto names =
        read_at<Elf64_Shdr>(library, head->e_shoff + table->sh_link * sizeof(Elf64_Shdr));
    if (!names) continue;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = read_at<Elf64_Sym>(library, table->sh_offset + at);
      if (!symbol) break;
      if (ELF64_ST_BIND(symbol->st_info) != STB_WEAK || symbol->st_shndx != SHN_UNDEF) continue;
      const uint64_t begin = names->sh_offset + symbol->st_name;
      if (begin >= library.size()) continue;
      const std::string_view rest = library.substr(begin);
      const std::string_view name = rest.substr(0, std::min(rest.find('\0'), rest.size()));
      if (!of_a_compiler(name)) out.emplace_back(name);
    }
  }
  return out;
}

}  // namespace kw::host_recording
