// The torch process with a real torch, where there is one; what needs none is in
// torch_protocol_test.cpp.
#include "oracle/torch_process.h"

#include <gtest/gtest.h>

#include "oracle/torch_python.h"

namespace kw::oracle {
namespace {

using tensor::DType;
using tensor::HostTensor;

HostTensor make(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values) {
  HostTensor made = tensor::make_tensor(dtype, std::move(shape)).value();
  for (size_t i = 0; i < values.size(); ++i) {
    tensor::set_element(made, static_cast<int64_t>(i), values[i]);
  }
  return made;
}

std::vector<double> values_of(const HostTensor& t) {
  std::vector<double> values;
  const int64_t count = *tensor::element_count(t.shape);
  for (int64_t i = 0; i < count; ++i) values.push_back(tensor::get_element(t, i));
  return values;
}

/// One process serves the whole suite: importing torch takes seconds.
class TorchTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (find_torch_python().path.empty()) return;
    TorchOptions options;
    options.memory_bytes = uint64_t{4} << 30;
    process_ = new TorchProcess(options);
  }
  static void TearDownTestSuite() {
    delete process_;
    process_ = nullptr;
  }
  void SetUp() override {
    if (process_ == nullptr) GTEST_SKIP() << "no Python here can import torch";
  }
  static TorchAnswer run(const std::string& text, std::vector<TorchArgument> arguments = {},
                         double seconds = 60) {
    TorchCall call;
    call.source.text = text;
    call.source.path = "reference.py";
    call.arguments = std::move(arguments);
    return process_->run(call, seconds);
  }
  static inline TorchProcess* process_ = nullptr;
};

TEST_F(TorchTest, SaysWhoItIs) {
  const TorchAnswer answer = process_->hello();
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
  EXPECT_EQ(values_of(answer.outputs[0].tensor), (std::vector<double>{3, 7.5}));
}

}  // namespace
}  // namespace kw::oracle
