// Tests docs/kernel-module.md: its examples must parse, and tests/reject must produce every error
// it quotes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "core/text.h"
#include "kernel/parse_module.h"

namespace kw::kernel {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string page() { return read(std::string(KW_SOURCE_DIR) + "/docs/kernel-module.md"); }

std::vector<std::string> cuda_blocks(const std::string& text) {
  std::vector<std::string> blocks;
  const std::string open = "```cuda\n", close = "```\n";
  for (size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
    const size_t begin = at + open.size();
    const size_t end = text.find(close, begin);
    blocks.push_back(text.substr(begin, end - begin));
    at = end;
  }
  return blocks;
}

// A fragment shows some lines of a module; the frame adds the missing lines.
std::string framed(const std::string& block) {
  if (block.starts_with("//! kernelwright")) return block;
  std::string out = "//! kernelwright 1\n//! task    example\n" + block;
  static const std::regex launch("//! launch +(?:\\w+::)*(\\w+)");
  std::set<std::string> kernels;
  for (std::sregex_iterator at(block.begin(), block.end(), launch), end; at != end; ++at) {
    kernels.insert((*at)[1]);
  }
  for (const std::string& kernel : kernels) out += "__global__ void " + kernel + "() {}\n";
  return out;
}

TEST(Documentation, ExamplesParse) {
  const std::vector<std::string> blocks = cuda_blocks(page());
  EXPECT_GE(blocks.size(), 12u);
  for (const std::string& block : blocks) {
    const std::string text = framed(block);
    const ParseOutcome outcome = parse(text, "example.cu");
    EXPECT_TRUE(outcome.module) << cuda_source::render_diagnostics(outcome.diagnostics, text,
                                                                   "example.cu");
  }
}

TEST(Documentation, QuotedErrorsAreReal) {
  std::string said;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(KW_SOURCE_DIR) + "/tests/reject")) {
    if (entry.path().extension() == ".expected") said += read(entry.path());
  }
  ASSERT_FALSE(said.empty());
  bool in_table = false;
  int rows = 0;
  const std::string text = page();
  for (const std::string_view line : split_lines(text)) {
    if (line == "| misuse | error |") in_table = true;
    if (!line.starts_with("|")) in_table = false;
    const size_t close = line.rfind('`');
    if (!in_table || close == std::string_view::npos) continue;
    const size_t open = line.rfind("| `");
    ASSERT_NE(open, std::string_view::npos) << line;
    const std::string_view error = line.substr(open + 3, close - open - 3);
    EXPECT_NE(said.find(error), std::string::npos) << "no .expected file says: " << error;
    ++rows;
  }
  EXPECT_GE(rows, 100);
}

}  // namespace
}  // namespace kw::kernel
