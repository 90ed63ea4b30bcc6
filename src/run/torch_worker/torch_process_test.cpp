// The torch process with a real torch, if one is installed. Tests without torch are in
// torch_protocol_test.cpp.
#include "torch_worker/torch_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "torch_worker/test_torch.h"

namespace kw::torch_worker {
namespace {

using tensor::DType;
using tensor::HostTensor;
using testing::HasSubstr;

HostTensor make(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values) {
  HostTensor made = tensor::make_tensor(dtype, std::move(shape)).value();
  for (size_t i = 0; i < values.size(); ++i) {
    tensor::set_element(made, static_cast<int64_t>(i), values[i]);
  }
  return made;
}

std::vector<double> numbers_of(const HostTensor& t) {
  std::vector<double> values;
  const int64_t count = *tensor::element_count(t.shape);
  for (int64_t i = 0; i < count; ++i) values.push_back(tensor::get_element(t, i));
  return values;
}

std::vector<std::string> names_of(const std::vector<TorchTensor>& outputs) {
  std::vector<std::string> names;
  for (const TorchTensor& output : outputs) names.push_back(output.name);
  return names;
}

TorchProcess* shared_process() { return shared_torch().get(); }

class TorchTest : public testing::Test {
 protected:
  void SetUp() override {
    if (shared_process() == nullptr) GTEST_SKIP() << "no Python here can import torch";
  }
  static TorchCall call_of(const std::string& text, std::vector<TorchArgument> arguments = {}) {
    TorchCall call;
    call.source.text = text;
    call.source.path = "/nowhere/reference.py";
    call.arguments = std::move(arguments);
    return call;
  }
  static TorchAnswer run(const std::string& text, std::vector<TorchArgument> arguments = {}) {
    return shared_process()->run(call_of(text, std::move(arguments)), 60);
  }
};

TEST_F(TorchTest, SaysWhoItIs) {
  const TorchAnswer answer = shared_process()->hello();
  ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
  EXPECT_FALSE(answer.body["torch"].as_string().empty());
  EXPECT_TRUE(answer.body["devices"].is_array());
}

TEST_F(TorchTest, RunsAFunction) {
  const HostTensor x = make(DType::Fp32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const TorchAnswer answer = run("def f(x, scale=2.0):\n    return x.sum(-1) * scale\n",
                                 {{"x", &x, {}}, {"scale", nullptr, 0.5}});
  ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
  ASSERT_EQ(answer.outputs.size(), 1U);
  EXPECT_EQ(answer.outputs[0].name, "out");
  EXPECT_EQ(answer.outputs[0].tensor.shape, (std::vector<int64_t>{2}));
  EXPECT_EQ(numbers_of(answer.outputs[0].tensor), (std::vector<double>{3, 7.5}));
}

TEST_F(TorchTest, BindsByNameWhateverTheOrder) {
  const HostTensor a = make(DType::Fp32, {1}, {8});
  const HostTensor b = make(DType::Fp32, {1}, {2});
  const TorchAnswer answer =
      run("def f(a, b, *, c=0, d=1):\n    return a / b + c * d\n",
          {{"b", &b, {}}, {"d", nullptr, int64_t{3}}, {"a", &a, {}}, {"c", nullptr, int64_t{5}}});
  ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
  EXPECT_EQ(numbers_of(answer.outputs[0].tensor), (std::vector<double>{19}));
}

TEST_F(TorchTest, NamesNestedOutputs) {
  const HostTensor x = make(DType::Fp32, {3}, {1, 3, 2});
  const TorchAnswer answer =
      run("import torch\n"
          "def f(x):\n"
          "    return {'a': x, 'm': torch.max(x, 0), 'l': [x, (x + 1,)]}\n",
          {{"x", &x, {}}});
  ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
  EXPECT_EQ(names_of(answer.outputs),
            (std::vector<std::string>{"a", "m.out0", "m.out1", "l.out0", "l.out1.out0"}));
  EXPECT_EQ(answer.outputs[2].tensor.dtype, DType::Int64);
  EXPECT_EQ(numbers_of(answer.outputs[2].tensor), (std::vector<double>{1}));
}

TEST_F(TorchTest, LeavesOutNone) {
  const TorchAnswer answer = run("import torch\ndef f():\n    return torch.ones(1), None\n");
  ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
  EXPECT_EQ(names_of(answer.outputs), (std::vector<std::string>{"out0"}));
}

TEST_F(TorchTest, GivesBackWhatWasWritten) {
  const HostTensor x = make(DType::Fp32, {2}, {1, 2});
  const HostTensor out = make(DType::Fp32, {2}, {0, 0});
  TorchCall call =
      call_of("def f(x, out):\n    out.copy_(x * 2)\n", {{"x", &x, {}}, {"out", &out, {}}});
  call.written = {"out"};
  const TorchAnswer answer = shared_process()->run(call, 60);
  ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
  EXPECT_EQ(names_of(answer.outputs), (std::vector<std::string>{"out"}));
  EXPECT_EQ(numbers_of(answer.outputs[0].tensor), (std::vector<double>{2, 4}));
}

TEST_F(TorchTest, PutsWeightsIntoAModelAndGivesBuffersBack) {
  const HostTensor x = make(DType::Fp32, {2, 1}, {1, 3});
  const HostTensor w = make(DType::Fp32, {1, 1}, {2});
  const HostTensor b = make(DType::Fp32, {1}, {-1});
  TorchCall call = call_of(
      "import torch.nn as nn\n"
      "width = 7\n"
      "class Model(nn.Module):\n"
      "    def __init__(self, n):\n"
      "        super().__init__()\n"
      "        self.lin = nn.Linear(n, n)\n"
      "        self.norm = nn.BatchNorm1d(n, momentum=1.0, affine=False)\n"
      "    def forward(self, x):\n"
      "        y = self.lin(x)\n"
      "        self.norm(y)\n"
      "        return y\n"
      "def get_init_inputs():\n"
      "    return [width]\n",
      {{"x", &x, {}}});
  call.source.globals = {{"width", 1}};
  call.weights = {{"lin.weight", &w, {}}, {"lin_bias", &b, {}}};
  TorchAnswer answer = shared_process()->run(call, 60);
  ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
  EXPECT_EQ(numbers_of(answer.outputs[0].tensor), (std::vector<double>{1, 5}));
  call.written = {"norm.running_mean"};
  answer = shared_process()->run(call, 60);
  ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
  ASSERT_EQ(answer.outputs.size(), 2U);
  EXPECT_EQ(numbers_of(answer.outputs[1].tensor), (std::vector<double>{3}));
  call.written_only = true;
  answer = shared_process()->run(call, 60);
  ASSERT_EQ(answer.outputs.size(), 1U);
  EXPECT_EQ(numbers_of(answer.outputs[0].tensor), (std::vector<double>{3}));
}

TEST_F(TorchTest, GivesNamesOfTuplesTheirValues) {
  const HostTensor x = make(DType::Fp32, {1}, {1});
  TorchCall call = call_of(
      "a, (b, c) = 2, (3, 4)\n"
      "d = a * 10\n"
      "size = (5, 6)\n"
      "unset: int\n"
      "def f(x):\n"
      "    return x * a, x * b, x * c, x * d, x * size[0], x * size[1]\n",
      {{"x", &x, {}}});
  call.source.globals = {{"a", 7}, {"c", 8}, {"size_1", 9}, {"unset", 1}};
  const TorchAnswer answer = shared_process()->run(call, 60);
  ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
  std::vector<double> got;
  for (const TorchTensor& output : answer.outputs) got.push_back(numbers_of(output.tensor)[0]);
  EXPECT_EQ(got, (std::vector<double>{7, 3, 8, 70, 5, 9}));
}

TEST_F(TorchTest, KeepsEmptyTensorsAndScalars) {
  const HostTensor x = make(DType::Fp32, {0, 3}, {});
  const HostTensor s = make(DType::Fp64, {}, {2.5});
  const TorchAnswer answer =
      run("def f(x, s):\n    return x, s * 2\n", {{"x", &x, {}}, {"s", &s, {}}});
  ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
  EXPECT_EQ(answer.outputs[0].tensor.shape, (std::vector<int64_t>{0, 3}));
  EXPECT_TRUE(answer.outputs[0].tensor.data.empty());
  EXPECT_TRUE(answer.outputs[1].tensor.shape.empty());
  EXPECT_EQ(numbers_of(answer.outputs[1].tensor), (std::vector<double>{5}));
}

TEST_F(TorchTest, CapturesWhatIsPrintedApart) {
  const TorchAnswer loud =
      run("import sys, os, torch\n"
          "def f():\n"
          "    print('first words')\n"
          "    os.write(3, b'at the channel')\n"
          "    sys.stderr.write('\\x00\\xff garbage\\n')\n"
          "    os.close(1)\n"
          "    return torch.zeros(1)\n");
  // Descriptor 3 is not the channel, so writing to it fails or goes elsewhere.
  EXPECT_THAT(loud.printed, HasSubstr("first words"));
  const TorchAnswer quiet =
      run("import torch\ndef f():\n    print('second'); return torch.ones(1)\n");
  ASSERT_TRUE(quiet.ok()) << outcome_text(quiet.outcome);
  EXPECT_THAT(quiet.printed, HasSubstr("second"));
  EXPECT_THAT(quiet.printed, testing::Not(HasSubstr("first words")));
}

TEST_F(TorchTest, SameSeedSameNumbers) {
  const std::string text = "import torch\ndef f():\n    return torch.rand(4)\n";
  const TorchAnswer a = run(text);
  const TorchAnswer b = run(text);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a.outputs[0].tensor.data, b.outputs[0].tensor.data);
}

TEST_F(TorchTest, UndoesWhatAReferenceDidToTorch) {
  ASSERT_TRUE(run("import torch\n"
                  "torch.set_default_dtype(torch.float64)\n"
                  "torch.backends.cuda.matmul.allow_tf32 = True\n"
                  "def f():\n    return torch.ones(1)\n")
                  .ok());
  const TorchAnswer answer =
      run("import torch\n"
          "def f():\n"
          "    assert not torch.backends.cuda.matmul.allow_tf32\n"
          "    assert not torch.backends.cudnn.allow_tf32\n"
          "    return torch.ones(1)\n");
  ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
  EXPECT_EQ(answer.outputs[0].tensor.dtype, DType::Fp32);
}

TEST_F(TorchTest, NeighboursOfTwoFoldersAreNotMixedUp) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(testing::TempDir()) / "kw_torch_neighbours";
  for (const char* name : {"one", "two"}) {
    fs::create_directories(root / name);
    std::ofstream(root / name / "kw_helper.py") << "WORD = " << (name[0] == 'o' ? 1 : 2) << "\n";
    std::ofstream(root / name / "ref.py") << "import torch\nfrom kw_helper import WORD\ndef f():\n "
                                             "   return torch.full((1,), WORD)\n";
    TorchCall call;
    call.source.path = root / name / "ref.py";
    const TorchAnswer answer = shared_process()->run(call, 60);
    ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
    EXPECT_EQ(numbers_of(answer.outputs[0].tensor)[0], name[0] == 'o' ? 1 : 2);
  }
  fs::remove_all(root);
}

TEST_F(TorchTest, HasNoCudaOnACpuBuild) {
  const TorchAnswer greeting = shared_process()->hello();
  if (!greeting.body["devices"].items().empty()) return;
  TorchCall call = call_of("import torch\ndef f():\n    return torch.ones(1)\n");
  call.device = "cuda";
  EXPECT_EQ(shared_process()->run(call, 60).outcome.kind, TorchKind::NoCuda);
}

// What a reference does to torch ends with it, and it can start no process that outlives it.
TEST_F(TorchTest, EveryReferenceGetsAForkOfACleanProcess) {
  TorchProcess process;
  const auto run_alone = [&](const std::string& text) {
    return process.run(call_of("import os, torch\n" + text), 60);
  };
  ASSERT_TRUE(
      run_alone("torch.sin = torch.cos\ndef f():\n    return torch.sin(torch.ones(1))\n").ok());
  const std::string plain = "def f():\n    return torch.sin(torch.zeros(1))\n";
  for (int i = 0; i < 2; ++i) {
    const TorchAnswer answer = run_alone(plain);
    ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
    EXPECT_EQ(numbers_of(answer.outputs[0].tensor), (std::vector<double>{0}));
  }
  EXPECT_EQ(process.started(), 1);
  const TorchAnswer forking = run_alone("os.fork()\ndef f():\n    return torch.ones(1)\n");
  EXPECT_NE(outcome_text(forking.outcome).find("PermissionError"), std::string::npos);
  ASSERT_TRUE(run_alone(plain).ok());
  EXPECT_EQ(process.started(), 1);
}

/// Raw bytes sent and returned, for every dtype that torch has.
class TorchDtypes : public testing::TestWithParam<DType> {};

TEST_P(TorchDtypes, SurviveTheJourney) {
  if (shared_process() == nullptr) GTEST_SKIP() << "no Python here can import torch";
  HostTensor x = tensor::make_tensor(GetParam(), {3, 5}).value();
  for (size_t i = 0; i < x.data.size(); ++i) {
    x.data[i] = static_cast<std::byte>(GetParam() == DType::Bool ? i % 2 : i * 37 + 11);
  }
  TorchCall call;
  call.source.entry = "lambda x: (x, x.clone())";
  call.arguments = {{"x", &x, {}}};
  const TorchAnswer answer = shared_process()->run(call, 60);
  ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
  for (const TorchTensor& output : answer.outputs) {
    EXPECT_EQ(output.tensor.dtype, GetParam());
    EXPECT_EQ(output.tensor.shape, x.shape);
    EXPECT_EQ(output.tensor.data, x.data);
  }
}

INSTANTIATE_TEST_SUITE_P(All, TorchDtypes,
                         testing::Values(DType::Fp64, DType::Fp32, DType::Fp16, DType::Bf16,
                                         DType::Fp8e4m3, DType::Fp8e5m2, DType::E8m0, DType::Int64,
                                         DType::Int32, DType::Int16, DType::Int8, DType::Uint64,
                                         DType::Uint32, DType::Uint16, DType::Uint8, DType::Bool),
                         [](const auto& test) { return tensor::dtype_name(test.param); });

struct BadCase {
  const char* name;
  const char* text;
  TorchKind kind;
  const char* message;  // a part of the message
  double seconds = 60;
  bool replaced = false;  // whether a new process must serve the next request
};

/// Bad references: each has its own outcome, and the process serves further requests.
class TorchBadReferences : public testing::TestWithParam<BadCase> {};

TEST_P(TorchBadReferences, HaveTypedOutcomes) {
  if (shared_process() == nullptr) GTEST_SKIP() << "no Python here can import torch";
  const BadCase& bad = GetParam();
  const TorchAnswer greeting = shared_process()->hello();
  ASSERT_TRUE(greeting.ok());
  const int before = shared_process()->started();
  TorchCall call;
  call.source.text = bad.text;
  call.source.path = "/nowhere/reference.py";
  const TorchAnswer answer = shared_process()->run(call, bad.seconds);
  EXPECT_STREQ(torch_kind_name(answer.outcome.kind), torch_kind_name(bad.kind))
      << answer.outcome.message << "\n"
      << answer.outcome.traceback;
  EXPECT_THAT(answer.outcome.message, HasSubstr(bad.message));
  EXPECT_TRUE(answer.outputs.empty());

  call.source.text = "import torch\ndef f():\n    return torch.full((1,), 7)\n";
  const TorchAnswer after = shared_process()->run(call, 60);
  ASSERT_TRUE(after.ok()) << outcome_text(after.outcome);
  EXPECT_EQ(numbers_of(after.outputs[0].tensor), (std::vector<double>{7}));
  EXPECT_EQ(shared_process()->started(), before + (bad.replaced ? 1 : 0));
}

#define HEAD "import torch, os, sys\n"
INSTANTIATE_TEST_SUITE_P(
    All, TorchBadReferences,
    testing::Values(
        BadCase{"raises", HEAD "def f():\n    raise ValueError('no such mode')\n",
                TorchKind::Raised, "ValueError: no such mode"},
        BadCase{"fails_in_torch", HEAD "def f():\n    return torch.ones(2) + torch.ones(3)\n",
                TorchKind::Raised, "size of tensor a (2)"},
        BadCase{"exits", HEAD "def f():\n    sys.exit(3)\n", TorchKind::Raised, "sys.exit(3)"},
        BadCase{"exception_without_text", "def f():\n    raise KeyboardInterrupt\n",
                TorchKind::Raised, "KeyboardInterrupt"},
        BadCase{"exception_that_cannot_be_printed",
                "class Odd(Exception):\n    def __str__(self): raise RuntimeError('never')\n"
                "def f():\n    raise Odd()\n",
                TorchKind::Raised, "Odd"},
        BadCase{"recursion", "def f():\n    return f()\n", TorchKind::Raised, "RecursionError"},
        BadCase{"syntax", "def f(:\n    pass\n", TorchKind::BadSource,
                "reference.py:1: SyntaxError: "},
        BadCase{"nul_byte", "def f():\n    return '\\0'\n", TorchKind::BadReturn, "a str"},
        BadCase{"raises_on_load", HEAD "1 / 0\n", TorchKind::BadSource, "ZeroDivisionError"},
        BadCase{"exits_on_load", HEAD "sys.exit()\n", TorchKind::BadSource, "sys.exit(None)"},
        BadCase{"missing_module", "import kw_there_is_no_such_module\n", TorchKind::MissingModule,
                "kw_there_is_no_such_module"},
        BadCase{"missing_module_late", "def f():\n    import kw_there_is_no_such_module\n",
                TorchKind::MissingModule, "kw_there_is_no_such_module"},
        BadCase{"no_function", HEAD "x = 3\n", TorchKind::NotFound, "no function"},
        BadCase{"several", "def a(): pass\ndef b(): pass\n", TorchKind::NotFound, "a, b"},
        BadCase{"not_callable", "reference = 3\n", TorchKind::NotFound, "int"},
        BadCase{"wants_more", "def f(x, y):\n    return x\n", TorchKind::Raised,
                "missing 2 required"},
        BadCase{"none", "def f():\n    pass\n", TorchKind::BadReturn, "returned nothing"},
        BadCase{"string", "def f():\n    return 'done'\n", TorchKind::BadReturn, "a str"},
        BadCase{"number", "def f():\n    return 1.5\n", TorchKind::BadReturn, "a float"},
        BadCase{"string_inside", HEAD "def f():\n    return torch.ones(1), 'x'\n",
                TorchKind::BadReturn, "a str as out1"},
        BadCase{"nones", "def f():\n    return None, [None]\n", TorchKind::BadReturn, "no tensor"},
        BadCase{"complex", HEAD "def f():\n    return torch.ones(1, dtype=torch.complex64)\n",
                TorchKind::Unsupported, "complex64"},
        BadCase{"sparse", HEAD "def f():\n    return torch.ones(2).to_sparse()\n",
                TorchKind::BadReturn, "sparse"},
        BadCase{"terabyte", HEAD "def f():\n    return torch.empty(2**40, dtype=torch.uint8)\n",
                TorchKind::OutOfMemory, ""},
        BadCase{"terabyte_in_pieces",
                HEAD "def f():\n    kept = []\n    while True: kept.append(torch.ones(2**26))\n",
                TorchKind::OutOfMemory, ""},
        BadCase{"terabyte_list", "def f():\n    return [0] * 2**40\n", TorchKind::OutOfMemory, ""},
        BadCase{"loops", "def f():\n    while True: pass\n", TorchKind::TimedOut, "0.5 s", 0.5,
                true},
        BadCase{"loops_on_load", "while True: pass\n", TorchKind::TimedOut, "0.5 s", 0.5, true},
        BadCase{"loops_in_c", "def f():\n    return 10 ** 10 ** 9\n", TorchKind::TimedOut, "0.5 s",
                0.5, true},
        BadCase{"prints_for_ever", "def f():\n    while True: print('x' * 1000)\n",
                TorchKind::TimedOut, "0.5 s", 0.5, true},
        BadCase{"dies", "import os\ndef f():\n    os._exit(7)\n", TorchKind::Died,
                "exited with code 7", 60, true},
        BadCase{"crashes", "import ctypes\ndef f():\n    ctypes.string_at(8)\n", TorchKind::Died,
                "SIGSEGV", 60, true},
        BadCase{"aborts", "import os\nos.abort()\n", TorchKind::Died, "SIGABRT", 60, true},
        BadCase{"forks",
                HEAD "def f():\n    if os.fork() == 0: return torch.ones(1)\n    return 3\n",
                TorchKind::Raised, "PermissionError"},
        BadCase{"closes_everything",
                HEAD "def f():\n    os.closerange(0, 4096)\n    return 'gone'\n", TorchKind::Died,
                "", 60, true}),
    [](const auto& test) { return test.param.name; });
#undef HEAD

}  // namespace
}  // namespace kw::torch_worker
