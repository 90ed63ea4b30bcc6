#include "plan/distinct.h"

#include <fmt/core.h>

#include <map>
#include <string>

namespace kw::generate {

namespace {

using Renamed = std::map<std::string, Dim>;

/// The names of the plan with their meanings.
class Meanings {
 public:
  /// A name that the plan may use for this meaning.
  std::string name_for(const std::string& name, const std::string& meaning) {
    std::string free = name;
    for (int i = 2;; ++i) {
      const auto [at, fresh] = all_.try_emplace(free, meaning);
      if (fresh || at->second == meaning) return free;
      free = fmt::format("{}_S{}", name, i);
    }
  }

 private:
  std::map<std::string, std::string> all_;
};

std::string extent_text(const Buffer& buffer) {
  return fmt::format("{} {}", tensor::dtype_name(buffer.dtype), graph::shape_text(buffer.shape));
}

std::string extent_text(const Scratch& scratch) {
  return fmt::format("{} {} {}", tensor::dtype_name(scratch.dtype), scratch.extent, scratch.fill);
}

void reword(Variant& variant, const Renamed& renamed) {
  variant.when = reworded(variant.when, renamed);
  for (Launch& launch : variant.launches) {
    const size_t open = launch.kernel.find('<');
    if (open != std::string::npos) {
      launch.kernel = launch.kernel.substr(0, open) + reworded(launch.kernel.substr(open), renamed);
    }
    for (std::string* text : {&launch.grid, &launch.block, &launch.shared, &launch.repeat}) {
      *text = reworded(*text, renamed);
    }
    for (std::string& arg : launch.args) arg = reworded(arg, renamed);
  }
}

}  // namespace

void make_distinct(std::vector<Sequence>& sequences) {
  Meanings meanings;
  for (Sequence& sequence : sequences) {
    Renamed renamed;
    const auto rename = [&](std::string& name, const std::string& meaning) {
      const std::string now = meanings.name_for(name, meaning);
      if (now != name) renamed.insert_or_assign(name, Dim::symbol(now, 1));
      name = now;
    };
    for (Buffer& buffer : sequence.partition.scratch) rename(buffer.name, extent_text(buffer));
    for (Kernel& kernel : sequence.kernels) {
      for (auto& [name, text] : kernel.lets) {
        text = reworded(text, renamed);
        rename(name, text);
      }
      for (Scratch& scratch : kernel.scratch) {
        scratch.extent = reworded(scratch.extent, renamed);
        rename(scratch.name, extent_text(scratch));
      }
      for (Variant& variant : kernel.variants) reword(variant, renamed);
    }
  }
}

}  // namespace kw::generate
