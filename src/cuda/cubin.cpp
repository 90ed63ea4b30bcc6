// Reads the symbol table of a cubin, which is an ELF64 file: the driver has no call that lists a
// module's variables. The bytes may come from anywhere, so every offset is checked before it is
// followed.
#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

#include "cuda/image.h"

namespace kw::cuda {
namespace {

class Elf {
 public:
  explicit Elf(std::string_view bytes) : bytes_(bytes) {
    valid_ = read(0, header_) && std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 &&
             header_.e_ident[EI_CLASS] == ELFCLASS64 && header_.e_shentsize == sizeof(Elf64_Shdr);
    if (valid_ && !section(header_.e_shstrndx, names_)) valid_ = false;
  }

  int sections() const { return valid_ ? header_.e_shnum : 0; }

  bool section(uint64_t index, Elf64_Shdr& out) const {
    return index < header_.e_shnum && header_.e_shoff <= bytes_.size() &&
           read(header_.e_shoff + index * sizeof(Elf64_Shdr), out);
  }

  std::string section_name(const Elf64_Shdr& section) const {
    return text(names_, section.sh_name);
  }

  /// The NUL-terminated text at an offset in a string section, "" when there is none.
  std::string text(const Elf64_Shdr& strings, uint64_t offset) const {
    if (strings.sh_offset > bytes_.size() || strings.sh_size > bytes_.size() - strings.sh_offset)
      return "";
    std::string_view table = bytes_.substr(strings.sh_offset, strings.sh_size);
    if (offset >= table.size()) return "";
    std::string_view tail = table.substr(offset);
    size_t end = tail.find('\0');
    return end == std::string_view::npos ? "" : std::string(tail.substr(0, end));
  }

  template <typename T>
  bool read(uint64_t offset, T& out) const {
    if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) return false;
    std::memcpy(&out, bytes_.data() + offset, sizeof(T));
    return true;
  }

 private:
  std::string_view bytes_;
  Elf64_Ehdr header_{};
  Elf64_Shdr names_{};
  bool valid_ = false;
};

bool in_writable_section(const Elf& elf, const Elf64_Sym& symbol) {
  Elf64_Shdr home{};
  if (symbol.st_shndx == SHN_UNDEF || !elf.section(symbol.st_shndx, home)) return false;
  const std::string name = elf.section_name(home);
  return name == ".nv.global" || name == ".nv.global.init";
}

}  // namespace

std::vector<std::string> cubin_globals(std::string_view image) {
  std::vector<std::string> names;
  const Elf elf(image);
  for (int i = 0; i < elf.sections(); ++i) {
    Elf64_Shdr table{};
    Elf64_Shdr strings{};
    if (!elf.section(i, table) || table.sh_type != SHT_SYMTAB ||
        !elf.section(table.sh_link, strings))
      continue;
    if (table.sh_offset > image.size()) continue;
    Elf64_Sym symbol{};
    for (uint64_t at = 0;
         at + sizeof(symbol) <= table.sh_size && elf.read(table.sh_offset + at, symbol);
         at += sizeof(symbol)) {
      if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || !in_writable_section(elf, symbol))
        continue;
      if (std::string name = elf.text(strings, symbol.st_name); !name.empty())
        names.push_back(std::move(name));
    }
  }
  return names;
}

}  // namespace kw::cuda
