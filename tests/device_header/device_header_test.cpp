// Compiles small kernels with clang and the headers of device/, with no CUDA SDK, and reads the PTX
// that comes out.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ptx/parse.h"

namespace {

namespace fs = std::filesystem;

struct Ended {
  int status = -1;
  std::string output;
};

Ended run(const std::string& command) {
  Ended result;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[4096];
  while (const size_t got = fread(buffer, 1, sizeof buffer, pipe))
    result.output.append(buffer, got);
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

// A clang of version 19 or newer, or "".
std::string find_clang() {
  std::vector<std::string> names;
  if (const char* chosen = std::getenv("KW_CLANG")) names.push_back(chosen);
  for (int version = 26; version >= 19; --version)
    names.push_back("clang-" + std::to_string(version));
  names.push_back("clang");
  for (const std::string& name : names) {
    const Ended version = run("command -v " + name + " >/dev/null && " + name + " -dumpversion");
    if (version.status == 0 && std::atoi(version.output.c_str()) >= 19) return name;
  }
  return "";
}

const std::string& clang() {
  static const std::string name = find_clang();
  return name;
}

constexpr const char* kNoClang = "no clang 19 or newer on this machine";

std::string command(const fs::path& source, const std::string& arch, const fs::path& to) {
  return clang() + " -x cuda --cuda-device-only --cuda-gpu-arch=" + arch +
         " --cuda-path=/nonexistent -nocudainc -nocudalib -nostdinc -nostdinc++ -nobuiltininc "
         "-std=c++20"
         " --cuda-feature=+ptx83 -O3 -gline-tables-only -Wall -Werror -Wno-unknown-pragmas"
         " -isystem " KW_SOURCE_DIR "/device -include kernelwright_device.h -S " +
         source.string() + " -o " + to.string();
}

std::vector<fs::path> sources(const char* folder) {
  std::vector<fs::path> found;
  for (const auto& entry :
       fs::directory_iterator(fs::path(KW_SOURCE_DIR "/tests/device_header") / folder)) {
    if (entry.path().extension() == ".cu") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string test_name(const testing::TestParamInfo<fs::path>& info) {
  return info.param.stem().string();
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Kernels : public testing::TestWithParam<fs::path> {};

TEST_P(Kernels, CompileAndParse) {
  if (clang().empty()) GTEST_SKIP() << kNoClang;
  const bool has_ptxas = run("command -v ptxas >/dev/null").status == 0;
  for (const char* arch : {"sm_75", "sm_80", "sm_90"}) {
    const fs::path ptx = fs::temp_directory_path() / (GetParam().stem().string() + "." + arch +
                                                      "." + std::to_string(getpid()) + ".ptx");
    const Ended compiled = run(command(GetParam(), arch, ptx));
    ASSERT_EQ(compiled.status, 0) << arch << "\n" << compiled.output;
    const kw::Result<kw::ptx::Module> module = kw::ptx::parse(read(ptx));
    ASSERT_TRUE(module.has_value()) << arch << "\n" << module.error().message;
    EXPECT_EQ(module->target, arch);
    int entries = 0;
    for (const auto& function : module->functions)
      entries += function.is_entry && !function.is_declaration;
    EXPECT_GE(entries, 1);
    if (has_ptxas) {
      const Ended assembled =
          run(std::string("ptxas -O0 -arch=") + arch + " -o /dev/null " + ptx.string());
      EXPECT_EQ(assembled.status, 0) << assembled.output;
    }
    fs::remove(ptx);
  }
}
INSTANTIATE_TEST_SUITE_P(DeviceHeader, Kernels, testing::ValuesIn(sources("kernels")), test_name);

class Refused : public testing::TestWithParam<fs::path> {};

// The first line of each file is "// expect: TEXT".
TEST_P(Refused, SaysWhy) {
  if (clang().empty()) GTEST_SKIP() << kNoClang;
  const std::string text = read(GetParam());
  const std::string marker = "// expect: ";
  ASSERT_EQ(text.rfind(marker, 0), 0u);
  const std::string expected = text.substr(marker.size(), text.find('\n') - marker.size());
  const Ended compiled = run(command(GetParam(), "sm_80", "/dev/null"));
  EXPECT_NE(compiled.status, 0);
  EXPECT_NE(compiled.output.find(expected), std::string::npos) << compiled.output;
}
INSTANTIATE_TEST_SUITE_P(DeviceHeader, Refused, testing::ValuesIn(sources("refused")), test_name);

TEST(EntryPoints, NameTheKernelsOfExpressions) {
  if (clang().empty()) GTEST_SKIP() << kNoClang;
  const fs::path ptx = fs::temp_directory_path() / ("entries." + std::to_string(getpid()) + ".ptx");
  const Ended compiled =
      run(command(KW_SOURCE_DIR "/tests/device_header/kernels/entries.cu", "sm_90", ptx));
  ASSERT_EQ(compiled.status, 0) << compiled.output;
  const kw::Result<kw::ptx::Module> module = kw::ptx::parse(read(ptx));
  fs::remove(ptx);
  ASSERT_TRUE(module.has_value());
  const auto target = [&](const std::string& name) -> std::string {
    for (const auto& variable : module->variables) {
      if (variable.name == name && variable.patches.size() == 1 &&
          variable.patches[0].function >= 0) {
        return module->functions[variable.patches[0].function].name;
      }
    }
    return "";
  };
  EXPECT_EQ(target("kw_entry_0"), "_ZN5inner5scaleILi256EfEEvPKT0_PS1_i");
  EXPECT_EQ(target("kw_entry_1"), "_Z5plainPf");
  EXPECT_EQ(target("kw_entry_2"), "_Z6chosenIL4Mode1ELb1EdEvPT1_");
}

}  // namespace
