// Folders of robust-kbench with something wrong in them, as people have them: what is said, and
// that it is about what is wrong.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "core/text.h"
#include "os/files.h"
#include "task_formats/load_rkb.h"

namespace kw::task_formats {
namespace {

constexpr const char* kForward = R"py(import torch
import torch.nn.functional as F
from torch import nn

calls = [0]


def forward_fn(x, w):
    return F.linear(x, w)


class Model(nn.Module):
    def __init__(self, width: int, features: int):
        super().__init__()
        self.w = nn.Parameter(torch.randn(features, width))
        self.norm = nn.BatchNorm1d(features)

    def forward(self, x, fn=forward_fn):
        return fn(x, self.w)


def get_inputs(batch: int, width: int):
    return [torch.randn(batch, width)]


input_names = ["x"]
)py";

constexpr const char* kLists =
    R"("single_init_configs": [{"features": 10}], "single_shared_configs": [{"width": 32}],
       "multi_input_configs": [{"batch": 3}], "multi_init_configs": [{"features": 4}],
       "multi_shared_configs": [{"width": 8}]})";

std::string config_of(const std::string& inputs) {
  return "{\"single_input_configs\": [" + inputs + "], " + kLists;
}

struct BadFolder {
  const char* name;
  std::string from, to;  // what is written instead, in func_forward.py
  std::string config;    // "": a good one
  const char* said;      // of the error, or of a problem
  bool read = false;     // whether a task comes of it
};
void PrintTo(const BadFolder& one, std::ostream* out) { *out << one.name; }

class RkbBad : public testing::TestWithParam<BadFolder> {};

TEST_P(RkbBad, SaysWhatIsWrong) {
  const BadFolder& bad = GetParam();
  const std::string folder = testing::TempDir() + "kw_rkb_" + bad.name + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  const std::string text = bad.from.empty() ? kForward : replace_all(kForward, bad.from, bad.to);
  ASSERT_NE(std::string(kForward).find(bad.from), std::string::npos) << bad.from;
  ASSERT_TRUE(os::write_file(folder + "/func_forward.py", text));
  ASSERT_TRUE(os::write_file(folder + "/config_forward.json",
                             bad.config.empty() ? config_of("{\"batch\": 64}") : bad.config));
  const auto read = read_rkb(folder, {});
  std::string said;
  if (!read) {
    said = read.error().message;
    EXPECT_EQ(read.error().blame, Blame::Input);
  } else {
    for (const FolderProblem& problem : read->problems)
      said += problem.rule + ": " + problem.message + "\n";
    for (const std::string& note : read->tasks.at(0).notes) said += note + "\n";
  }
  EXPECT_EQ(read.has_value(), bad.read) << said;
  EXPECT_NE(said.find(bad.said), std::string::npos) << said;
  std::filesystem::remove_all(folder);
}

const std::string kSum = "return F.linear(x, w)";
const std::string kDraw = "torch.randn(batch, width)";

INSTANTIATE_TEST_SUITE_P(
    Folders, RkbBad,
    testing::Values(
        // Configurations.
        BadFolder{"Cut", "", "", "{\"single_input", "config_forward.json: not valid JSON"},
        BadFolder{"Empty", "", "", "{}", "no configuration can be used: Model() needs 'width'"},
        BadFolder{"NoObject", "", "", "[]", "config_forward.json holds no object"},
        BadFolder{"Lacks", "", "", "{\"single_input_configs\": [{\"batch\": 4}]}",
                  "Model() needs 'width', and single init 0, input 0, shared 0 does not give it"},
        BadFolder{"Nothing", "", "", config_of("{\"batch\": 0}"), "has no elements", true},
        BadFolder{"Negative", "", "", config_of("{\"batch\": -4}"), "negative dimension -4", true},
        BadFolder{"Huge", "", "", config_of("{\"batch\": 1000000000000}"), "at most 256 GiB", true},
        BadFolder{"Beyond", "", "", config_of("{\"batch\": 100000000000000000000000}"),
                  "'batch' of single init 0, input 0, shared 0 is 1e+23, and integers have 64 bits",
                  true},
        BadFolder{"Fraction", "", "", config_of("{\"batch\": 4.5}"), "element 0 is float", true},
        BadFolder{"Word", "", "", config_of("{\"batch\": \"64\"}"), "element 0 is str", true},
        BadFolder{"NoneTimed", "", "", config_of("{\"batch\": \"64\"}"),
                  "none of the 'single_*' configurations can be used", true},
        BadFolder{"UnknownKey", "", "", config_of("{\"batch\": 4, \"batchs\": 5}"),
                  "get_inputs() takes no 'batchs'", true},
        BadFolder{"OddKey", "", "", config_of("{\"batch\": 4, \"a; import os\": 5}"),
                  "get_inputs() takes no 'a; import os'", true},
        BadFolder{"Contradiction", "", "",
                  "{\"single_input_configs\": [{\"batch\": 4, \"width\": 7}], "
                  "\"single_init_configs\": [{\"features\": 2, \"width\": 8}]}",
                  "with single init 0, input 0, shared 0 of"},
        // What the file lacks.
        BadFolder{"NoModel", "class Model", "class Net", "", "has no class Model"},
        BadFolder{"NoInputs", "def get_inputs", "def inputs", "", "has no get_inputs()"},
        BadFolder{"NoForwardFn", "forward_fn", "compute", "",
                  "forward-call: func_forward.py has no forward_fn()", true},
        BadFolder{"NoPlace", "(self, x, fn=forward_fn):\n        return fn(",
                  "(self, x):\n        return forward_fn(", "",
                  "forward-call: func_forward.py: Model.forward takes no 'fn'", true},
        BadFolder{"InputsNone", "return [" + kDraw + "]", "return None", "",
                  "get_inputs() returns NoneType"},
        BadFolder{"Dtype", kDraw, "torch.randn(batch, width, dtype=getattr(torch, 'float17'))", "",
                  "torch.float17 is not a dtype that is known here"},
        BadFolder{"Complex", kDraw, "torch.randn(batch, width, dtype=torch.complex64)", "",
                  "torch.complex64 is not a dtype that is known here"},
        // Randomness, and what is kept between calls.
        BadFolder{"Random", kSum, kSum + " + torch.rand(1)", "", "two runs would differ"},
        BadFolder{"Dropout", kSum, "return F.dropout(F.linear(x, w), 0.5, True)", "",
                  "draws random numbers"},
        BadFolder{"Counter", kSum, "calls[0] += 1\n    " + kSum + " * calls[0]", "",
                  "keeps state between calls", true},
        BadFolder{"Default", "(x, w):\n    ",
                  "(x, w, seen=[]):\n    seen.append(1)\n    x = x * len(seen)\n    ", "",
                  "keeps state between calls", true},
        BadFolder{"Cache", kSum, "calls.append(x)\n    return F.linear(calls[1], w)", "",
                  "keeps state between calls", true},
        BadFolder{
            "Attribute", "return fn(x, self.w)",
            "self.scale = getattr(self, 'scale', 0) + 1\n        return fn(x, self.w) * self.scale",
            "", "keeps state between calls", true},
        BadFolder{"Statistics", "return fn(x, self.w)",
                  "y = self.norm(fn(x, self.w))\n        return y + self.norm.running_mean", "",
                  "keeps state between calls", true},
        BadFolder{"StatisticsUnread", "return fn(x, self.w)", "return self.norm(fn(x, self.w))", "",
                  "no output needs 'norm.running_mean'", true}),
    [](const auto& row) { return row.param.name; });

TEST(RkbState, AModelInTrainingKeepsNothingThatMatters) {
  const auto read = read_rkb(std::string(KW_REFERENCES_DIR) + "/rkb/row_norm", {});
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->tasks.at(0).keeps_state);
}

}  // namespace
}  // namespace kw::task_formats
