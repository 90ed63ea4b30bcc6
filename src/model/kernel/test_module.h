// Shared by the tests of this folder: parse or fail, bindings for a target.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "arch/arch.h"
#include "kernel/parse_module.h"
#include "kernel/select.h"

namespace kw::kernel {

inline Module parse_or_fail(const std::string& text) {
  ParseOutcome outcome = parse(text, "test.cu");
  EXPECT_TRUE(outcome.module) << cuda_source::render_diagnostics(outcome.diagnostics, text,
                                                                 "test.cu");
  return outcome.module.value_or(Module{});
}

/// A module made of plan lines alone; kernels named k, first and second exist.
inline Module plan(const std::string& lines) {
  std::string text = "//! kernelwright 1\n//! task test\n";
  size_t begin = 0;
  while (begin < lines.size()) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    text += "//! " + lines.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return parse_or_fail(
      text + "__global__ void k();\n__global__ void first();\n__global__ void second();\n");
}

inline Bindings bind(std::map<std::string, int64_t> dims, const char* target = "sm_90") {
  Bindings bindings;
  bindings.dims = std::move(dims);
  bindings.target = *arch::find_target(target);
  return bindings;
}

}  // namespace kw::kernel
