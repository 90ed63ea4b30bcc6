#include "compile/normalise.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "compile/compiler_messages.h"
#include "compile/program_text.h"
#include "core/text.h"
#include "os/files.h"

namespace kw::compile {
namespace {

/// Normalises, and checks that only names of the program changed.
std::string same_program(const std::string& text, std::vector<std::string> names = {}) {
  const std::string changed = normalise_ptx(text, "m.cu", {}, &names);
  EXPECT_EQ(program_text(changed), program_text(text));
  return changed;
}

TEST(NormalisePtx, ForgetsFoldersAndProcesses) {
  std::vector<std::string> names = {"_ZN42_GLOBAL__N__00000000_4_m_cu_e6b0a624_204301kEPf",
                                    "plain"};
  const std::string ptx = normalise_ptx(
      ".entry _ZN42_GLOBAL__N__00000000_4_m_cu_e6b0a624_204301kEPf\n\t.file\t1 "
      "\"/some/where/m.cu\"\n"
      "\t.file 2 \"/usr/include/cccl/cub/x.h\", 17, 3\n\t.file 3 \"/opt/y.h\"\n",
      "m.cu", {"/usr/include", "/usr/include/cccl"}, &names);
  EXPECT_EQ(ptx,
            ".entry _ZN12_GLOBAL__N_11kEPf\n\t.file\t1 \"m.cu\"\n\t.file 2 \"cub/x.h\", 17, "
            "3\n\t.file 3 \"/opt/y.h\"\n");
  EXPECT_EQ(names[0], "_ZN12_GLOBAL__N_11kEPf");
  EXPECT_EQ(demangle(names[0]), "(anonymous namespace)::k(float*)");
  EXPECT_EQ(names[1], "plain");
}

// libcu++'s namespace __4 precedes the length of "(anonymous namespace)": 4 and 31 are not 431.
TEST(NormalisePtx, ReadsALengthBehindAnotherDigit) {
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n";
  text +=
      ".global .align 1 .b8 _ZN29_INTERNAL_00000000_6_mod_cu_k4cuda3std3__4"
      "31_GLOBAL__N__00000000_6_mod_cu_k6ignoreE[1];\n";
  for (int i = 0; i < 30; ++i) text += fmt::format(".global .align 4 .u32 plain_{};\n", i);
  text += ".visible .entry k()\n{\n ret;\n}\n";
  const std::string changed = same_program(text);
  EXPECT_NE(changed.find(" _ZN12_GLOBAL__N_24cuda3std3__412_GLOBAL__N_16ignoreE[1];"),
            std::string::npos)
      << changed;
}

TEST(NormalisePtx, ReadsAProcessNumberBeforeALength) {
  for (const char* process : {"7", "17817", "4194304"}) {
    const std::string unit = std::string("00000000_4_m_cu_c1d642dd_") + process;
    const std::string inner = fmt::format("{}_GLOBAL__N__{}", 12 + unit.size(), unit);
    const std::string outer = fmt::format("{}_INTERNAL_{}", 10 + unit.size(), unit);
    std::vector<std::string> names = {"_ZN" + outer + inner + "4helpEf"};
    std::vector<std::string> other = {"_ZN" + inner + "1kEPf"};
    EXPECT_EQ(normalise_ptx(names[0] + " _ZN" + outer + "4cuda3std3__4" + inner + "6ignoreE",
                            "m.cu", {}, &names),
              "_ZN12_GLOBAL__N_212_GLOBAL__N_14helpEf "
              "_ZN12_GLOBAL__N_24cuda3std3__412_GLOBAL__N_16ignoreE");
    EXPECT_EQ(names[0], "_ZN12_GLOBAL__N_212_GLOBAL__N_14helpEf");
    EXPECT_EQ(normalise_ptx(other[0], "m.cu", {}, &other), "_ZN12_GLOBAL__N_11kEPf");
  }
}

TEST(NormalisePtx, LeavesAllElseAlone) {
  for (const char* text : {
           "",
           ".visible .entry x12_INTERNAL_ab()",
           ".visible .entry my_INTERNAL_00000000_4_m_cu_k()",
           ".visible .entry _Z29_INTERNAL_not_hexa_6_mod_cu_kv()",
           "_ZN29_INTERNAL_00000000_6_mod_cu",  // cut short
           "_ZN29_INTERNAL_00000000_999999999999999999999_mod_cu_k",
           ".pragma \"_ZN29_INTERNAL_00000000_6_mod_cu_k4cudaE\";",  // a string is not code
           "_ZN12_GLOBAL__N_11kE\n\n\r\n  \x01 \"open",
           ".file 1 \"/opt/.file 2 \\\" x\"",
           ".section .debug_str { a: .b8 1,2, }",
           "/* open",
       }) {
    std::vector<std::string> names;
    EXPECT_EQ(normalise_ptx(text, "m.cu", {}, &names), text);
  }
}

TEST(NormalisePtx, RenamesInCommentsWhatItRenamesInCode) {
  std::vector<std::string> names;
  EXPECT_EQ(normalise_ptx("// _ZZN31_GLOBAL__N__00000000_6_mod_cu_k1aEvE4tile has been demoted\n"
                          "_ZN31_GLOBAL__N__00000000_6_mod_cu_k1aEv; // _GLOBAL__N__",
                          "m.cu", {}, &names),
            "// _ZZN12_GLOBAL__N_11aEvE4tile has been demoted\n"
            "_ZN12_GLOBAL__N_11aEv; // _GLOBAL__N__");
}

TEST(NormalisePtx, NeverMakesTwoNamesOne) {
  const std::string text =
      "_ZN12_GLOBAL__N_11kE _ZN31_GLOBAL__N__00000000_6_mod_cu_k1kE .file 1 \"/a/m.cu\"";
  std::vector<std::string> names = {"_ZN31_GLOBAL__N__00000000_6_mod_cu_k1kE"};
  EXPECT_EQ(normalise_ptx(text, "m.cu", {}, &names),
            "_ZN12_GLOBAL__N_11kE _ZN31_GLOBAL__N__00000000_6_mod_cu_k1kE .file 1 \"m.cu\"");
  EXPECT_EQ(names[0], "_ZN31_GLOBAL__N__00000000_6_mod_cu_k1kE");
}

TEST(NormalisePtx, TakesTheLengthMostNamesAgreeOn) {
  // The first name is so long that a length of 431 is possible too.
  const std::string ignore = "_ZN4cuda3std3__431_GLOBAL__N__00000000_6_mod_cu_k6ignoreE";
  const std::string text =
      ignore + std::string(500, 'x') + " _ZN31_GLOBAL__N__00000000_6_mod_cu_k1aE";
  std::vector<std::string> names;
  EXPECT_EQ(
      normalise_ptx(text, "m.cu", {}, &names),
      "_ZN4cuda3std3__412_GLOBAL__N_16ignoreE" + std::string(500, 'x') + " _ZN12_GLOBAL__N_11aE");
}

TEST(NormalisePtx, RewritesTheNamesOfInlinedFunctions) {
  const auto section = [](const std::string& name) {
    std::string text = "\t.section\t.debug_str\n\t{\n$L__info_string0:\n.b8 ";
    for (const char c : name) text += fmt::format("{},", static_cast<int>(c));
    return text + "0\n$L__info_string1:\n.b8 95,90,0\n\n\t}\n";
  };
  std::vector<std::string> names;
  EXPECT_EQ(normalise_ptx(section("_ZN31_GLOBAL__N__00000000_6_mod_cu_k1aEv"), "m.cu", {}, &names),
            section("_ZN12_GLOBAL__N_11aEv"));
}

TEST(NormalisePtx, KeepsEveryProgramOfTheCorpus) {
  int renamed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(KW_SOURCE_DIR "/tests/ptx")) {
    if (entry.path().extension() != ".ptx") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const std::string text = os::read_file(entry.path().string()).value();
    renamed += same_program(text) != text ? 1 : 0;
  }
  EXPECT_GE(renamed, 2);
}

}  // namespace
}  // namespace kw::compile
