// Compares the output of a test with a file of tests/golden. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace kw {

/// Compares `got` with the file, or writes the file when KW_UPDATE_GOLDEN is set.
inline void expect_golden(const std::string& path, const std::string& got) {
  if (std::getenv("KW_UPDATE_GOLDEN") != nullptr) {
    std::ofstream file(path, std::ios::binary);
    file << got;
    ASSERT_TRUE(file.good()) << path << " cannot be written";
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file.good()) << path << " is missing; KW_UPDATE_GOLDEN=1 writes it";
  std::stringstream want;
  want << file.rdbuf();
  EXPECT_EQ(got, want.str()) << "golden " << path << "; KW_UPDATE_GOLDEN=1 rewrites it";
}

}  // namespace kw
