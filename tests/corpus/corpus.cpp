#include "corpus.h"

#include "core/text.h"
#include "os/files.h"

namespace kw::corpus {

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = [] {
    std::vector<Entry> list;
    for (auto make : {elementwise_entries, reduce_entries, scan_entries, norm_entries,
                      matmul_entries, integer_entries, math_entries, sync_entries, edge_entries}) {
      for (Entry& entry : make()) list.push_back(std::move(entry));
    }
    return list;
  }();
  return all;
}

const Entry* find_entry(const std::string& name) {
  for (const Entry& entry : entries())
    if (entry.name == name) return &entry;
  return nullptr;
}

std::string module_path(const Entry& entry) {
  const std::string moved = os::env("KW_CORPUS_DIR");
  return (moved.empty() ? KW_CORPUS_DIR : moved) + "/" + entry.name + ".cu";
}

std::string needs_text(unsigned needs) {
  std::vector<std::string> words;
  if (needs & kCub) words.push_back("CUB");
  if (needs & kWmma) words.push_back("wmma");
  return join(words, ", ");
}

}  // namespace kw::corpus
