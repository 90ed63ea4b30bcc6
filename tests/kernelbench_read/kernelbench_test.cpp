// Levels 1 and 2 of KernelBench, from a checkout the environment names: how many files become
// tasks, and whether the truth of each is what PyTorch computes.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "engine/torch_reference.h"
#include "frontend/load.h"
#include "oracle/interpreter.h"
#include "oracle/torch_python.h"
#include "verify/families.h"

namespace kw {
namespace {

namespace fs = std::filesystem;

enum class Fate : uint8_t { Agrees, Read, Parts, Refused };

struct Row {
  std::string file;
  Fate fate = Fate::Refused;
  std::string reason;
};

const char* name_of(Fate fate) {
  switch (fate) {
    case Fate::Agrees:
      return "agrees";
    case Fate::Read:
      return "read";
    case Fate::Parts:
      return "PARTS";
    default:
      return "refused";
  }
}

/// The folder of a level, whether the variable names the checkout or the folder of the levels.
fs::path level_folder(const fs::path& checkout, int level) {
  for (const char* inside : {"", "KernelBench"}) {
    fs::path folder = checkout / inside / fmt::format("level{}", level);
    if (fs::is_directory(folder)) return folder;
  }
  return {};
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".py") files.push_back(entry.path());
  const auto number = [](const fs::path& path) { return std::atoi(path.stem().c_str()); };
  std::sort(files.begin(), files.end(), [&](const fs::path& a, const fs::path& b) {
    return std::pair(number(a), a) < std::pair(number(b), b);
  });
  return files;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

Row judge(const fs::path& path, oracle::TorchProcess* torch) {
  Row row{path.filename().string(), Fate::Refused, ""};
  auto task = frontend::load_task(path.string(), {});
  if (!task) {
    row.reason = first_line(task.error().message);
    return row;
  }
  row.fate = Fate::Read;
  const task::Dims dims = task->correctness_shapes.at(0);
  const auto graph = task->reference->trace(dims);
  if (!graph) {
    row.reason = "not at " + task::dims_text(dims) + ": " + first_line(graph.error().message);
    return row;
  }
  if (torch == nullptr) return row;
  const auto inputs = verify::draw_inputs(*task, *graph, dims, "normal", 1);
  if (!inputs) {
    row.reason = first_line(inputs.error().message);
    return row;
  }
  oracle::Interpreter interpreter;
  const auto checked = engine::cross_check_task(*task, dims, *inputs, interpreter, *torch);
  if (!checked) {
    row.reason = first_line(checked.error().message);
  } else if (checked->outcome.kind != oracle::TorchKind::Ok) {
    row.reason = first_line(oracle::outcome_text(checked->outcome));
  } else if (checked->partings.empty()) {
    row.fate = Fate::Agrees;
  } else {
    row.fate = Fate::Parts;
    row.reason = first_line(oracle::parting_text(checked->partings[0]));
  }
  return row;
}

TEST(KernelBench, IsReadAsPyTorchMeansIt) {
  const char* checkout = std::getenv("KW_KERNELBENCH");
  if (checkout == nullptr) GTEST_SKIP() << "KW_KERNELBENCH is not set";
  std::unique_ptr<oracle::TorchProcess> torch;
  if (oracle::find_torch_python().path.empty())
    fmt::print("no Python here can import torch: files are read, not held against it\n");
  else
    torch = std::make_unique<oracle::TorchProcess>();
  int files = 0, read = 0;
  for (const int level : {1, 2}) {
    const fs::path folder = level_folder(checkout, level);
    ASSERT_FALSE(folder.empty()) << checkout << " has no level" << level;
    for (const fs::path& path : files_of(folder)) {
      const Row row = judge(path, torch.get());
      ++files;
      read += row.fate != Fate::Refused ? 1 : 0;
      fmt::print("level {}  {:8} {}{}{}\n", level, name_of(row.fate), row.file,
                 row.reason.empty() ? "" : ": ", row.reason);
      std::fflush(stdout);
      EXPECT_NE(row.fate, Fate::Parts) << row.file << ": " << row.reason;
      EXPECT_TRUE(torch == nullptr || row.fate != Fate::Read) << row.file << ": " << row.reason;
    }
  }
  fmt::print("{} of {} files are read\n", read, files);
  EXPECT_GE(read * 100, files * 95);
}

}  // namespace
}  // namespace kw
