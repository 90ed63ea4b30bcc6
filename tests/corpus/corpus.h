// The corpus: correct kernel modules of every kind, each with dims, inputs and a host reference for
// its outputs. Shared by the test on the virtual GPU and by the comparison with a real one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "case.h"
#include "record/finding.h"

namespace kw::corpus {

/// How far an output may be from the reference: |got - want| <= abs + rel * |want|. Both zero: bit
/// for bit.
struct Tolerance {
  double abs = 0, rel = 0;
};

/// Headers that only NVIDIA's compilers serve; clang with our own device headers refuses them.
enum Needs : unsigned { kPlain = 0, kCub = 1, kWmma = 2 };

struct Entry {
  std::string name;  // the module is name.cu in this folder
  std::vector<Setting> settings;
  std::function<void(Case&)> reference;  // writes every output and inout
  std::function<void(Case&)> fill = {};  // replaces the default inputs where they do not fit
  Tolerance tolerance = {};
  std::map<std::string, Tolerance> tolerances = {};  // of single outputs, before `tolerance`
  unsigned needs = kPlain;
  std::string prints = {};  // what a run at the first setting prints
  bool any_order = false;   // float atomics: bits depend on the order of arrival
  std::optional<record::FindingKind> warns =
      {};  // right on every device, though not in CUDA's book
};

/// All entries, ordered by kind.
const std::vector<Entry>& entries();
const Entry* find_entry(const std::string& name);
/// Path of an entry's module: in $KW_CORPUS_DIR when the program was carried to another machine.
std::string module_path(const Entry& entry);
/// "cub, wmma".
std::string needs_text(unsigned needs);

std::vector<Entry> elementwise_entries();
std::vector<Entry> reduce_entries();
std::vector<Entry> scan_entries();
std::vector<Entry> norm_entries();
std::vector<Entry> matmul_entries();
std::vector<Entry> integer_entries();
std::vector<Entry> math_entries();
std::vector<Entry> sync_entries();
std::vector<Entry> edge_entries();

/// Declared here because it shares its helpers with the other bit tricks.
void rare_instructions(Case& c);

}  // namespace kw::corpus
