#include "modules.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "binding/load.h"
#include "harness.h"
#include "kernel/select.h"
#include "os/files.h"
#include "task_formats/load.h"

namespace kw::honest {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMostTunes = 4096;  // of one module, from which repetitions draw

// Tasks whose kernels the virtual GPU runs for minutes.
const std::set<std::string> kSlow = {"tests/frontend/agree/sort_topk"};

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  if (!fs::exists(folder)) return entries;
  for (const auto& entry : fs::directory_iterator(folder)) entries.push_back(entry.path());
  std::ranges::sort(entries);
  return entries;
}

bool is_reference(const fs::path& path) {
  return path.extension() == ".py" || fs::exists(path / "task.toml");
}

/// Fills in the assignments of tunables. False: the text is not a module.
bool add_tunes(HonestModule* module) {
  const auto parsed = binding::parse_module(module->text, "module.cu");
  if (!parsed) return false;
  module->tunes = kernel::tune_space(*parsed, kMostTunes);
  if (module->tunes.empty()) module->tunes.emplace_back();
  return true;
}

class Collector {
 public:
  Collector(size_t designs, std::string only, fs::path root)
      : designs_(designs), only_(std::move(only)), root_(std::move(root)) {}

  Status add_generated(const fs::path& path) {
    const std::string name = name_of(path);
    if (!is_reference(path) || !wanted(name) || kSlow.count(name) != 0) return Done{};
    const auto task = load(path);
    if (task == nullptr) return Done{};
    const auto options = codegen_tests::Harness::get().options();
    const auto designs = KW_TRY(generate::designs(*task, options));
    size_t taken = 0;
    for (const generate::Design& design : designs) {
      bool news = false;
      for (const generate::Choice& one : design.choices) news |= seen_.insert(one.schedule).second;
      if (!news && taken >= designs_) continue;
      ++taken;
      HonestModule module{name + ": " + generate::design_text(design),
                          "generated",
                          KW_TRY(generate::generate(*task, design, options)),
                          task,
                          {}};
      add(std::move(module));
    }
    return Done{};
  }

  /// A kernel beside its reference: NAME.cu with NAME.py, NAME-variant.cu with NAME.py.
  Status add_by_hand(const fs::path& kernel, const fs::path& reference) {
    if (!wanted(name_of(kernel))) return Done{};
    const auto task = load(reference);
    if (task == nullptr) return Done{};
    add({name_of(kernel), "by hand", KW_TRY(os::read_file(kernel.string())), task, {}});
    return Done{};
  }

  std::vector<HonestModule> take() { return std::move(modules_); }

 private:
  std::shared_ptr<const task::Task> load(const fs::path& path) {
    const auto options = fs::is_directory(path) ? task_formats::LoadOptions{}
                                                : codegen_tests::options_of(path.string());
    auto task = task_formats::load_task(path.string(), options);
    if (!task) return nullptr;  // some references need options
    return std::make_shared<const task::Task>(std::move(task).value());
  }

  std::string name_of(const fs::path& path) const {
    return fs::relative(path, root_).replace_extension().string();
  }

  bool wanted(const std::string& name) const {
    return only_.empty() || name.find(only_) != std::string::npos;
  }

  void add(HonestModule module) {
    if (add_tunes(&module)) modules_.push_back(std::move(module));
  }

  size_t designs_;
  std::string only_;
  fs::path root_;
  std::set<std::string> seen_;  // schedules
  std::vector<HonestModule> modules_;
};

fs::path reference_of(const fs::path& kernel) {
  const std::string stem = kernel.stem().string();
  const fs::path folder = kernel.parent_path();
  for (const std::string& name : {stem, stem.substr(0, stem.find('-'))}) {
    for (const fs::path& path : {folder / (name + ".py"), folder / name}) {
      if (fs::exists(path)) return path;
    }
  }
  return fs::exists(folder / "reference.py") ? folder / "reference.py" : fs::path();
}

}  // namespace

Result<std::vector<HonestModule>> honest_modules(size_t designs, const std::string& only,
                                                 const std::string& source) {
  const fs::path root = source.empty() ? KW_SOURCE_DIR : source;
  Collector collector(designs, only, root);
  for (const char* folder :
       {"suites/internal", "suites/extended", "suites/robust", "suites/ops", "suites/kernelbench",
        "tests/frontend/agree", "tests/frontend/kernelbench", "tests/codegen/golden"}) {
    for (const fs::path& entry : sorted_entries(root / folder))
      KW_TRY(collector.add_generated(entry));
  }
  std::vector<fs::path> kernels = {root / "examples/rms_norm.cu"};
  for (const fs::path& entry : sorted_entries(root / "tests/exploits/references"))
    kernels.push_back(entry);
  for (const fs::path& entry : sorted_entries(root / "tests/optimize/plain"))
    kernels.push_back(entry / "kernel.cu");
  for (const fs::path& kernel : kernels) {
    if (kernel.extension() != ".cu" || !fs::exists(kernel)) continue;
    const fs::path reference = reference_of(kernel);
    if (!reference.empty()) KW_TRY(collector.add_by_hand(kernel, reference));
  }
  return collector.take();
}

}  // namespace kw::honest
