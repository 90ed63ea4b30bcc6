// A kernel could keep state between calls in a global variable, so the names of all writable
// globals are needed. The driver has no call that lists a module's variables. So the names are read
// from the image itself: from the symbol table of a cubin, which is an ELF64 file, or from the PTX
// text. A library such as libelf would be one more dependency for a few fields.
// Images are untrusted: every offset is checked before it is used. The cost: the two section names,
// .nv.global and .nv.global.init, are NVIDIA's and may change.
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/ascii.h"
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

  /// The NUL-terminated text at an offset in a string section; "" when there is none.
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

bool in_ptx_name(char c) { return is_name_char(c) || c == '$' || c == '%'; }

/// The variable that a module-level statement declares; "" when it declares none, or an extern one.
std::string declared_global(std::string_view statement) {
  if (statement.find(".global") == std::string_view::npos ||
      statement.find(".extern") != std::string_view::npos)
    return "";
  statement = statement.substr(0, statement.find_first_of("[="));
  while (!statement.empty() && !in_ptx_name(statement.back())) statement.remove_suffix(1);
  size_t start = statement.size();
  while (start > 0 && in_ptx_name(statement[start - 1])) --start;
  return std::string(statement.substr(start));
}

}  // namespace

Status check_image(ports::ImageKind kind, std::string_view image) {
  const bool is_elf = image.starts_with(ELFMAG);
  if (kind == ports::ImageKind::Ptx) {
    if (is_elf) return input_error("the image is declared as PTX but is a cubin");
    while (image.ends_with('\0')) image.remove_suffix(1);
    if (image.find('\0') != std::string_view::npos)
      return input_error("the PTX text has NUL bytes in it");
    return Done{};
  }
  if (!is_elf) return input_error("the image is declared as a cubin but is not an ELF file");
  const Elf elf(image);
  bool whole = elf.sections() > 0;
  for (int i = 0; i < elf.sections() && whole; ++i) {
    Elf64_Shdr section{};
    whole =
        elf.section(static_cast<uint64_t>(i), section) &&
        (section.sh_type == SHT_NOBITS || (section.sh_offset <= image.size() &&
                                           section.sh_size <= image.size() - section.sh_offset));
  }
  if (!whole) return input_error("the cubin is truncated or damaged");
  return Done{};
}

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

std::vector<std::string> ptx_globals(std::string_view text) {
  std::vector<std::string> names;
  std::string statement;  // at module level only
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("//")) {
      i += std::min(rest.find('\n'), rest.size()) - 1;
    } else if (rest.starts_with("/*")) {
      i += std::min(rest.find("*/", 2), rest.size() - 2) + 1;
    } else if (text[i] == '{') {
      ++depth;
    } else if (text[i] == '}') {
      // A closing brace ends a function, but not an initialiser.
      depth = std::max(0, depth - 1);
      if (depth == 0 && statement.find('=') == std::string::npos) statement.clear();
    } else if (depth == 0 && text[i] == ';') {
      if (std::string name = declared_global(statement); !name.empty())
        names.push_back(std::move(name));
      statement.clear();
    } else if (depth == 0) {
      statement += text[i];
    }
  }
  return names;
}

}  // namespace kw::cuda
