#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "cuda/image.h"

namespace kw::cuda {
namespace {

TEST(PtxGlobals, AreReadFromDeclarations) {
  struct Case {
    const char* text;
    std::vector<std::string> want;
  };
  const Case cases[] = {
      {"", {}},
      {".version 7.0\n.target sm_80\n.address_size 64\n.visible .global .u32 counter;",
       {"counter"}},
      {".global .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n.global .f32 x = 0f3F800000;",
       {"table", "x"}},
      {".const .u32 c = 3; .extern .global .u32 elsewhere;", {}},
      {".entry k(.param .u64 p) { .reg .b32 %r1; ld.global.u32 %r1, [p]; }\n.global .u64 _ZN1a$b;",
       {"_ZN1a$b"}},
      {"// .global .u32 commented;\n/* .global .u32 too; */ .global .u32 real;", {"real"}},
      {".global .u32", {}},
      {"}}}} .global .u32 a; {{{ .global .u32 b;", {"a"}},
      {"/* never closed", {}},
      {"// never ended", {}},
      {"/", {}},
  };
  for (const Case& c : cases) EXPECT_EQ(ptx_globals(c.text), c.want) << c.text;
}

template <typename T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

/// A minimal cubin: header, section table, names, one symbol table with three objects.
std::string small_cubin() {
  const std::string names(
      std::string("\0.shstrtab\0.nv.global\0.nv.constant3\0.symtab\0counter\0table\0", 59));
  auto name_at = [&](const char* name) { return static_cast<Elf64_Word>(names.find(name)); };
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = sizeof(header);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 5;
  header.e_shstrndx = 1;
  const uint64_t names_at = sizeof(header) + 5 * sizeof(Elf64_Shdr);
  Elf64_Sym symbols[3] = {};
  symbols[1] = {name_at("counter"), ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 2, 0, 4};
  symbols[2] = {name_at("table"), ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 3, 0, 4};
  Elf64_Shdr sections[5] = {};
  sections[1] = {name_at(".shstrtab"), SHT_STRTAB, 0, 0, names_at, names.size(), 0, 0, 1, 0};
  sections[2].sh_name = name_at(".nv.global");
  sections[3].sh_name = name_at(".nv.constant3");
  sections[4] = {name_at(".symtab"), SHT_SYMTAB, 0, 0, names_at + names.size(),
                 sizeof(symbols),    1,          0, 8, 24};
  std::string bytes;
  append(bytes, header);
  append(bytes, sections);
  bytes += names;
  append(bytes, symbols);
  return bytes;
}

TEST(CubinGlobals, AreTheObjectsOfWritableSections) {
  EXPECT_EQ(cubin_globals(small_cubin()), (std::vector<std::string>{"counter"}));
}

TEST(CheckImage, TellsWhatIsNotWhatItIsSaidToBe) {
  const std::string cubin = small_cubin();
  EXPECT_TRUE(check_image(ports::ImageKind::Cubin, cubin).has_value());
  EXPECT_TRUE(check_image(ports::ImageKind::Ptx, ".version 7.0").has_value());
  EXPECT_TRUE(
      check_image(ports::ImageKind::Ptx, std::string_view(".version 7.0\0", 13)).has_value());
  EXPECT_FALSE(check_image(ports::ImageKind::Ptx, cubin).has_value());
  EXPECT_FALSE(
      check_image(ports::ImageKind::Ptx, std::string_view(".version\0 7.0", 13)).has_value());
  EXPECT_FALSE(check_image(ports::ImageKind::Cubin, ".version 7.0").has_value());
  for (size_t size = 0; size < cubin.size(); ++size) {
    EXPECT_FALSE(
        check_image(ports::ImageKind::Cubin, std::string_view(cubin).substr(0, size)).has_value())
        << size;
  }
}

TEST(CubinGlobals, BrokenFilesAreHarmless) {
  const std::string whole = small_cubin();
  for (size_t size = 0; size < whole.size(); ++size)
    cubin_globals(std::string_view(whole).substr(0, size));
  // Sets every byte of header and section table to extreme values: no read may leave the file.
  for (size_t at = 4; at < sizeof(Elf64_Ehdr) + 5 * sizeof(Elf64_Shdr); ++at) {
    for (char value : {'\xff', '\x7f', '\0'}) {
      std::string broken = whole;
      broken[at] = value;
      EXPECT_LE(cubin_globals(broken).size(), 3u);
    }
  }
}

}  // namespace
}  // namespace kw::cuda
