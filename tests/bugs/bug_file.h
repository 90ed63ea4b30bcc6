// A seeded-bug kernel as a file: the module, and in its comments what must be found where.
//   //~ KIND        at the end of a line: a finding of this kind is due on this line
//   //? dims N=100  what to run it with; also: absent NAME, fill NAME LOW..HIGH, order, budget
//   COUNT, misalign BYTES, certain (what is due makes the run fail)
//   //? expect KIND a finding of this kind is due, wherever; //? also KIND…: these may come along;
//   //? refused TEXT it is refused with this before it runs
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "case.h"
#include "core/result.h"
#include "kernel/module.h"
#include "record/finding.h"

namespace kw::bugs {

struct BugFile {
  kernel::Module module;
  corpus::Setting setting;
  std::map<std::string, std::pair<int64_t, int64_t>> fills;  // integer inputs and their ranges
  bool order = false;                                        // run with the order check
  bool certain = false;                                      // a warning would not do
  int misalign = 0;     // bytes that every buffer is moved by, as far as its alignment allows
  uint64_t budget = 0;  // warp instructions; 0: the device's own
  std::map<record::FindingKind, std::set<int>> due;  // lines by kind; no lines: anywhere
  std::set<record::FindingKind> also;
  std::string refused;  // part of the message with which it is refused before it runs; "": it runs
};

/// Reads and parses; the Error says what is wrong with the file.
Result<BugFile> read_bug(const std::string& path);
/// Names of all bugs in a folder: every NAME.cu that has a NAME.fixed.cu.
std::vector<std::string> bug_names(const std::string& folder);

}  // namespace kw::bugs
