// Task folders, and the examples of docs/references.md.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "cases.h"
#include "core/text.h"
#include "graph/graph.h"
#include "os/files.h"
#include "task_formats/load.h"

namespace kw::task_formats {
namespace {

/// A folder that goes away with the test.
class Folder {
 public:
  Folder() : path_(fmt::format("{}kw_task_{}_{}", testing::TempDir(), ::getpid(), next_++)) {
    EXPECT_TRUE(os::make_directories(path_));
  }
  ~Folder() {
    for (const std::string& name : names_) (void)os::remove_file(path_ + "/" + name);
    ::rmdir(path_.c_str());
  }
  void add(const std::string& name, const std::string& text) {
    EXPECT_TRUE(os::write_file(path_ + "/" + name, text));
    names_.push_back(name);
  }
  const std::string& path() const { return path_; }

 private:
  static int next_;
  std::string path_;
  std::vector<std::string> names_;
};
int Folder::next_ = 0;

/// Code blocks of a kind in the documentation, in order.
std::vector<std::string> blocks(const std::string& language) {
  const std::string text = *os::read_file(std::string(KW_DOCS_DIR) + "/references.md");
  std::vector<std::string> found;
  const std::string open = "```" + language + "\n";
  for (size_t at = text.find(open); at != std::string::npos; at = text.find(open, at + 1)) {
    const size_t begin = at + open.size();
    found.push_back(text.substr(begin, text.find("```", begin) - begin));
  }
  return found;
}

TEST(Docs, TheFunctionLoads) {
  const auto task = load_python(blocks("python").at(0), "rms_norm.py");
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->format, "function");
  EXPECT_EQ(task->output_names, std::vector<std::string>{"y"});
  EXPECT_EQ(task->inputs[1].shape, std::vector<std::string>{"D"});
  ASSERT_EQ(task->scalars.size(), 1U);
  EXPECT_EQ(task->scalars[0].number, 1e-5);
}

TEST(Docs, TheFlatReferenceLoads) {
  LoadOptions options;
  options.dims = {{"M", 1024}, {"N", 1024}, {"K", 1024}};
  const auto task = load_python(blocks("python").at(1), "ref.py", options);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->format, "optimizer");
  EXPECT_EQ(task->output_names, std::vector<std::string>{"C"});
  ASSERT_EQ(task->inputs.size(), 2U);
  EXPECT_EQ(task->inputs[0].shape, std::vector<std::string>{"K * M"});
  EXPECT_EQ(task->inputs[1].shape, std::vector<std::string>{"K * N"});
  EXPECT_EQ(task->precision.atol, 1e-3);
  EXPECT_EQ(task->precision.rtol, 1e-2);
}

TEST(Docs, TheFolderLoads) {
  Folder folder;
  folder.add("task.toml", blocks("toml").at(0));
  folder.add("reference.py", blocks("python").at(2));
  folder.add("prompt.txt", "Gather rows and scale them.\n");
  const auto task = load_task(folder.path());
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->name, "gather_scale");
  EXPECT_EQ(task->format, "folder");
  EXPECT_EQ(task->prompt, "Gather rows and scale them.\n");
  ASSERT_EQ(task->inputs.size(), 3U);
  const task::TensorSpec* ids = task->find_input("ids");
  ASSERT_TRUE(ids);
  EXPECT_EQ(ids->legal.low, 0);
  EXPECT_EQ(ids->legal.below, "V");
  const task::TensorSpec* scale = task->find_input("scale");
  ASSERT_TRUE(scale);
  EXPECT_EQ(scale->role, task::Role::Weight);
  EXPECT_EQ(scale->legal.float_high, 2.0);
  EXPECT_EQ(task->dims.at("D").multiple, 8);
  EXPECT_EQ(task->correctness_shapes.size(), 2U);
  EXPECT_EQ(task->benchmark_shapes[0].at("N"), 16384);
  EXPECT_EQ(task->precision.atol, 1e-2);
  EXPECT_TRUE(task->reference->trace({{"V", 3}, {"D", 8}, {"N", 5}}));
  EXPECT_TRUE(load_task(folder.path() + "/task.toml"));
}

/// A block whose shortcut has weights only where the channels differ.
constexpr const char* kBlock = R"(import torch
import torch.nn as nn

batch = 512
channels_in = 128
channels_out = 64


class Model(nn.Module):
    def __init__(self, channels_in, channels_out):
        super().__init__()
        self.main = nn.Linear(channels_in, channels_out)
        self.side = nn.Linear(channels_in, channels_out) if channels_in != channels_out else None

    def forward(self, x):
        return torch.relu(self.main(x) + (x if self.side is None else self.side(x)))


def get_inputs():
    return [torch.randn(batch, channels_in)]


def get_init_inputs():
    return [channels_in, channels_out]
)";

TEST(OneSetOfTensors, AFolderMayNotMixThem) {
  Folder folder;
  folder.add("reference.py", kBlock);
  folder.add("task.toml",
             "[shapes]\nbenchmark = [{ batch = 8, channels_in = 4, channels_out = 8 }]\n"
             "correctness = [{ batch = 2, channels_in = 6, channels_out = 3 },\n"
             "  { batch = 2, channels_in = 8, channels_out = 8 }]\n");
  const auto task = load_task(folder.path());
  ASSERT_FALSE(task);
  EXPECT_EQ(task.error().blame, Blame::Input);
  EXPECT_EQ(
      replace_all(task.error().message, folder.path() + "/", ""),
      "task.toml: at shape batch=2 channels_in=8 channels_out=8: the reference does not have "
      "the task's inputs (no 'side_weight', no 'side_bias') at this shape\n  hint: a task has "
      "one set of tensors at every shape: omit this shape, or make it a separate task");
}

TEST(OneSetOfTensors, ShapesOfOursKeepThem) {
  for (const int64_t in : {64, 65, 128, 4096}) {
    for (const int64_t out : {64, 33, 128, 8192}) {
      LoadOptions options;
      options.dims = {{"channels_in", in}, {"channels_out", out}};
      const auto task = load_python(kBlock, "block.py", options);
      ASSERT_TRUE(task) << task.error().message;
      for (const auto* list : {&task->benchmark_shapes, &task->correctness_shapes}) {
        for (const task::Dims& dims : *list) {
          const auto graph = task->graph_at(dims);
          EXPECT_TRUE(graph) << graph.error().message;
        }
      }
    }
  }
}

constexpr const char* kReference = "def reference(x, y):\n    return x + y\n";
constexpr const char* kInputs = "[inputs]\nx = \"fp32[N]\"\ny = \"fp32[N]\"\n";

struct BadToml {
  const char* name;
  std::string toml;
  const char* message;  // what it ends with
};

class Folders : public testing::TestWithParam<BadToml> {};

TEST_P(Folders, SayWhatIsWrong) {
  Folder folder;
  folder.add("task.toml", GetParam().toml);
  folder.add("reference.py", kReference);
  const auto task = load_task(folder.path());
  ASSERT_FALSE(task);
  EXPECT_EQ(task.error().blame, Blame::Input);
  const std::string message = replace_all(task.error().message, folder.path() + "/", "");
  EXPECT_EQ(message, GetParam().message);
}

const BadToml kBad[] = {
    {"unknown_key", "nmae = \"a\"\n",
     "task.toml:1:1: unknown key 'nmae' in task.toml (did you mean 'name'?); known are: name, "
     "reference, function, prompt, outputs, inputs, scalars, dims, shapes, precision, "
     "backward, gradients"},
    {"unknown_input_key", "[inputs.x]\ndtype = \"fp32\"\nshap = [\"N\"]\n",
     "task.toml:3:1: unknown key 'shap' in [inputs.x] (did you mean 'shape'?); known are: dtype, "
     "shape, role, optional, written, low, high, below, min, max, permutation, positive, "
     "structure"},
    {"unknown_precision_key", std::string(kInputs) + "[precision]\ntf32 = true\n",
     "task.toml:5:1: unknown key 'tf32' in [precision]; known are: allow_tf32, flush, "
     "deterministic, nan, atol, rtol"},
    {"unknown_dim_key", std::string(kInputs) + "[dims]\nN = { mim = 1 }\n",
     "task.toml:5:7: unknown key 'mim' in [dims.N] (did you mean 'min'?); known are: min, max, "
     "multiple"},
    {"syntax", "name = \n",
     "task.toml:1:8: Error while parsing key-value pair: expected value, saw '\\n'"},
    {"name_type", "name = 3\n", "task.toml:1:8: 'name' must be a string"},
    {"dtype", "[inputs]\nx = \"fp33[N]\"\ny = \"fp32[N]\"\n",
     "task.toml:2:5: unknown dtype 'fp33' (did you mean 'fp32'?)"},
    {"shape_missing", "[inputs.x]\ndtype = \"fp32\"\n",
     "task.toml:1:1: [inputs.x] needs dtype and shape"},
    {"role", "[inputs.x]\ndtype = \"fp32\"\nshape = [\"N\"]\nrole = \"static\"\n",
     "task.toml:4:8: 'role' must be one of input, weight, not 'static'"},
    {"nan_policy", std::string(kInputs) + "[precision]\nnan = \"maybe\"\n",
     "task.toml:5:7: 'nan' must be one of never, propagate, not 'maybe'"},
    {"negative_tolerance", std::string(kInputs) + "[precision]\natol = -1.0\n",
     "task.toml:5:8: 'atol' must be 0 or more"},
    {"input_unknown", std::string(kInputs) + "z = \"fp32[N]\"\n",
     "task.toml: reference() has no parameter 'z'; its parameters are: x, y"},
    {"input_missing", "[inputs]\nx = \"fp32[N]\"\n",
     "task.toml: the inputs of reference() are not known: y\n  hint: pass --input "
     "'y:fp32[B,D]' (with the right dtypes and shapes), or annotate them (y: \"fp32[B, D]\"), or "
     "write get_inputs()"},
    {"dim_unused", std::string(kInputs) + "[dims]\nM = { min = 1 }\n",
     "task.toml: dim 'M' appears in no shape of the task"},
    {"dim_empty", std::string(kInputs) + "[dims]\nN = { min = 9, max = 3 }\n",
     "task.toml:5:5: dim N: no value lies between 9 and 3 in steps of 1"},
    {"shape_outside",
     std::string(kInputs) + "[dims]\nN = { max = 8 }\n[shapes]\nbenchmark = [{ N = 16 }]\n",
     "task.toml: N=16 is outside the dim's own range: 1 … 8, multiples of 1"},
    {"shape_dim_unknown", std::string(kInputs) + "[shapes]\nbenchmark = [{ N = 16, M = 2 }]\n",
     "task.toml, benchmark: the task has no dim 'M'; its dims are: N"},
    {"shape_incomplete", std::string(kInputs) + "[shapes]\ncorrectness = [{ }]\n",
     "task.toml: shape  has no value for dim N"},
    {"outputs_count", "outputs = [\"a\", \"b\"]\n" + std::string(kInputs),
     "task.toml: reference gives 1 outputs, but the task names 2"},
    {"empty_range",
     "[inputs.x]\ndtype = \"int32\"\nshape = [\"N\"]\nlow = 5\nhigh = 2\n[inputs.y]\ndtype = "
     "\"int32\"\nshape = [\"N\"]\n",
     "task.toml:1:1: no value is legal: the lower bound is above the upper one"},
    {"empty_range_of_floats",
     "[inputs.x]\ndtype = \"fp32\"\nshape = [\"N\"]\nmin = 1.5\nmax = -1.5\n",
     "task.toml:1:1: no value is legal: the lower bound is above the upper one"},
    {"nan_bound", "[inputs.x]\ndtype = \"fp32\"\nshape = [\"N\"]\nmin = nan\n",
     "task.toml:4:7: 'min' must be a finite number"},
    {"infinite_bound", "[inputs.x]\ndtype = \"fp32\"\nshape = [\"N\"]\nmax = inf\n",
     "task.toml:4:7: 'max' must be a finite number"},
    {"positive_below_zero",
     "[inputs.x]\ndtype = \"fp32\"\nshape = [\"N\"]\npositive = true\nmax = -1.0\n",
     "task.toml:5:7: 'max' must be above 0 when positive = true is set"},
    {"bounds_of_integers", "[inputs.x]\ndtype = \"int32\"\nshape = [\"N\"]\nmin = 0\n",
     "task.toml:4:7: 'min' has no meaning for int32; use low and high"},
    {"bounds_of_floats", "[inputs.x]\ndtype = \"fp16\"\nshape = [\"N\"]\nhigh = 3\n",
     "task.toml:4:8: 'high' has no meaning for fp16; use min and max"},
    {"outside_the_type", "[inputs.x]\ndtype = \"int8\"\nshape = [\"N\"]\nlow = 300\n",
     "task.toml:1:1: no value is legal: int8 ends at -128 and 127"},
    {"below_unknown",
     "[inputs.x]\ndtype = \"int32\"\nshape = [\"N\"]\nbelow = \"V\"\n[inputs.y]\ndtype = "
     "\"int32\"\nshape = [\"N\"]\n",
     "task.toml: 'x' must stay below 'V', which is not a dim of the task"},
};
INSTANTIATE_TEST_SUITE_P(All, Folders, testing::ValuesIn(kBad),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(FoldersMissing, NamesWhatIsMissing) {
  Folder folder;
  const auto without = load_task(folder.path());
  ASSERT_FALSE(without);
  EXPECT_EQ(
      without.error().message,
      folder.path() +
          " has no task.toml, no func_forward.py, nor all of prompt.txt, reference.py, shapes.yaml "
          "and notes.md");
  folder.add("task.toml", kInputs);
  const auto no_reference = load_task(folder.path());
  ASSERT_FALSE(no_reference);
  EXPECT_NE(no_reference.error().message.find("reference.py"), std::string::npos);
  const auto nothing = load_task("no/such/thing.py");
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().message, "no/such/thing.py: no such file or folder");
}

struct FixtureCase {
  const char* name;
  const char* prompt;
  const char* reference;
  const char* yaml;    // "": the documentation's
  const char* inputs;  // as read; "": refused …
  const char* shapes;  // the first to be right at, the one to be fast at; … with these words
};

class Fixtures : public testing::TestWithParam<FixtureCase> {};

TEST_P(Fixtures, AreTasksToo) {
  const FixtureCase& one = GetParam();
  Folder folder;
  folder.add("prompt.txt", one.prompt);
  folder.add("reference.py", one.reference);
  folder.add("shapes.yaml", *one.yaml != 0 ? one.yaml : blocks("yaml").at(0));
  folder.add("notes.md", "# Notes\n");
  const auto task = load_task(folder.path() + "/");
  if (*one.inputs == 0) {
    ASSERT_FALSE(task);
    EXPECT_EQ(task.error().blame, Blame::Input);
    EXPECT_NE(task.error().message.find(one.shapes), std::string::npos) << task.error().message;
    return;
  }
  ASSERT_TRUE(task) << task.error().message;
  std::string inputs;
  for (const task::TensorSpec& input : task->inputs)
    inputs += fmt::format("{}{}: {}[{}]", inputs.empty() ? "" : "; ", input.name,
                          tensor::dtype_name(input.dtype), join(input.shape, ", "));
  EXPECT_EQ(inputs, one.inputs);
  EXPECT_EQ(task::dims_text(task->correctness_shapes.at(0)) + "; " +
                task::dims_text(task->benchmark_shapes.at(0)),
            one.shapes);
  EXPECT_EQ(task->format, "fixture");
  EXPECT_EQ(task->prompt, trim(one.prompt));
}

const FixtureCase kFixtures[] = {
    {"rows", "Generate a kernel for fp16 rows.\n", "def reference(x):\n  return x * 2\n", "",
     "x: fp16[B, D]", "B=8 D=64; B=4096 D=4096"},
    {"vectors", "two of float32", kReference, "- [128]\n- [2048]\n", "x: fp32[N]; y: fp32[N]",
     "N=128; N=16777216"},
    {"nobody_says_a_dtype", "Add.", kReference, "- [4, 4, 8]\n",
     "x: fp32[d0, d1, d2]; y: fp32[d0, d1, d2]", "d0=4 d1=4 d2=8; d0=256 d1=256 d2=256"},
    {"columns", "bf16", "def reference(x, gamma):\n  return x * gamma\n", "",
     "x: bf16[B, D]; gamma: bf16[D]", "B=8 D=64; B=4096 D=4096"},
    {"square", "fp16", "def reference(a, c, bias):\n  return a @ c + bias\n",
     "- [256, 256]\n- [512, 512]\n", "a: fp16[N, N]; c: fp16[N, N]; bias: fp16[N]",
     "N=256; N=4096"},
    {"described_by_itself", "fp16", "def reference(x: 'fp32[R, C]'):\n  return x * 2\n", "",
     "x: fp32[R, C]", "C=64 R=8; C=4096 R=4096"},
    {"other_rank", "fp16", "def reference(x: 'fp32[R]'):\n  return x * 2\n", "", "",
     "shapes of rank 2, but the first input of the reference has 1 named dims"},
    {"bad_shapes", "fp16", kReference, "- [8, x]\n", "", "shapes.yaml:1: 'x' is not an extent"},
    {"refused_shape", "fp32", "def reference(x):\n  return x.view(-1, 4).sum(-1)\n", "- [7]\n", "",
     "N=7"},
};
INSTANTIATE_TEST_SUITE_P(All, Fixtures, testing::ValuesIn(kFixtures),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(FoldersWritten, StatesAreOutputsToo) {
  Folder folder;
  folder.add("task.toml",
             "[inputs.x]\ndtype = \"fp32\"\nshape = [\"N\"]\n[inputs.state]\ndtype = \"fp32\"\n"
             "shape = [\"N\"]\nwritten = true\n");
  folder.add("reference.py",
             "def reference(x, state):\n    state.add_(x)\n    y = state * 2\n    return y\n");
  const auto task = load_task(folder.path());
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->output_names, (std::vector<std::string>{"y", "state"}));
  EXPECT_TRUE(task->find_input("state")->written);
  EXPECT_FALSE(task->find_input("x")->written);
}

}  // namespace
}  // namespace kw::task_formats
