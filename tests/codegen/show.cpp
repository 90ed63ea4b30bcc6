// Prints the modules generated for a reference: show_module REFERENCE.py [--designs | --design N |
// --all] [--target sm_90] [--input SPEC …] [--function NAME] [--dims NAME=N …].
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "plan/codegen.h"
#include "task_formats/load.h"

namespace {
constexpr size_t kMost = 24;  // of --all: regions multiply, and large references have thousands
}

int main(int argc, char** argv) {
  kw::task_formats::LoadOptions load;
  std::string path, target = "sm_90";
  bool list = false, all = false;
  size_t which = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--designs") {
      list = true;
    } else if (word == "--all") {
      all = true;
    } else if (word == "--function" && i + 1 < argc) {
      load.function = argv[++i];
    } else if (word == "--dims" && i + 1 < argc) {
      const std::string value = argv[++i];
      const size_t equals = value.find('=');
      load.dims[value.substr(0, equals)] = std::atoll(value.c_str() + equals + 1);
    } else if (word == "--design" && i + 1 < argc) {
      which = static_cast<size_t>(std::atol(argv[++i]));
    } else if (word == "--target" && i + 1 < argc) {
      target = argv[++i];
    } else if (word == "--input" && i + 1 < argc) {
      load.inputs.emplace_back(argv[++i]);
    } else {
      path = word;
    }
  }
  const auto fail = [](const kw::Error& error) {
    fmt::print(stderr, "{}\n", error.message);
    return 2;
  };
  const auto task = kw::task_formats::load_task(path, load);
  if (!task) return fail(task.error());
  kw::generate::Options options;
  const auto row = kw::arch::find_target(target);
  if (!row) return fail(row.error());
  options.target = *row;
  const auto designs = kw::generate::designs(*task, options);
  if (!designs) return fail(designs.error());
  if (list) {
    for (const auto& design : *designs) fmt::print("{}\n", kw::generate::design_text(design));
    return 0;
  }
  if (all) {
    for (size_t i = 0; i < std::min(designs->size(), kMost); ++i) {
      const auto text = kw::generate::generate(*task, (*designs)[i], options);
      if (!text) return fail(text.error());
      fmt::print("=== {}\n{}", kw::generate::design_text((*designs)[i]), *text);
    }
    return 0;
  }
  if (which >= designs->size()) return fail(kw::input_error("there is no such design"));
  const auto text = kw::generate::generate(*task, (*designs)[which], options);
  if (!text) return fail(text.error());
  fmt::print("{}", *text);
  return 0;
}
