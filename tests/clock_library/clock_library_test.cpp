// The clock's library, loaded as a foreign process would: a candidate and a graph captured by
// somebody else, timed by the same code.
#include "clock_library/clock_api.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <tuple>

#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/image.h"
#include "cuda/launch.h"
#include "gpu/messages.h"
#include "kernels.h"
#include "os/files.h"
#include "os/process.h"
#include "ports/audit_hash.h"
#include "program_builder.h"

namespace kw::clock_library {
namespace {

using gpu_suite::Case;

struct Library {
  void* handle = ::dlopen(KW_CLOCK_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  decltype(&kw_clock_open) open = find<decltype(&kw_clock_open)>("kw_clock_open");
  decltype(&kw_clock_close) close = find<decltype(&kw_clock_close)>("kw_clock_close");
  decltype(&kw_clock_ask) ask = find<decltype(&kw_clock_ask)>("kw_clock_ask");
  decltype(&kw_clock_error) error = find<decltype(&kw_clock_error)>("kw_clock_error");
  decltype(&kw_clock_lost) lost = find<decltype(&kw_clock_lost)>("kw_clock_lost");

  template <typename F>
  F find(const char* name) {
    return handle == nullptr ? nullptr : reinterpret_cast<F>(::dlsym(handle, name));
  }
};

constexpr int64_t kCount = 1000;

class ClockLibrary : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(library_.handle, nullptr) << ::dlerror();
    clock_ = library_.open(0);
    if (clock_ == nullptr) GTEST_SKIP() << "no GPU here: " << library_.error(nullptr);
    driver_ = cuda::Driver::open().value();
    context_ = cuda::Context::create(*driver_, 0).value();
  }
  void TearDown() override {
    if (clock_ != nullptr) library_.close(clock_);
  }

  gpu::Reply ask(const gpu::Request& request, const std::vector<kw_span>& inputs = {},
                 const std::vector<kw_baseline>& baselines = {}) {
    const std::string frame = gpu::encode(request);
    size_t bytes = 0;
    const char* reply = library_.ask(clock_, frame.data(), frame.size(), inputs.data(),
                                     inputs.size(), baselines.data(), baselines.size(), &bytes);
    EXPECT_NE(reply, nullptr) << library_.error(clock_);
    return reply == nullptr ? gpu::Reply{} : gpu::decode_reply({reply, bytes}).value();
  }

  void load() {
    gpu::Request request;
    request.verb = gpu::Verb::Load;
    request.image = 1;
    request.bytes = gpu_suite::kKernels;
    EXPECT_EQ(ask(request).error, "");
  }

  cuda::DeviceMemory numbers(float factor) {
    auto memory = cuda::DeviceMemory::allocate(*context_, kCount * sizeof(float), "numbers");
    std::vector<float> values;
    for (int64_t i = 0; i < kCount; ++i) values.push_back(factor * static_cast<float>(i));
    EXPECT_TRUE(context_->upload(memory->address(), values.data(), memory->size(), "numbers"));
    return std::move(memory).value();
  }

  Library library_;
  kw_clock* clock_ = nullptr;
  std::unique_ptr<cuda::Driver> driver_;
  std::unique_ptr<cuda::Context> context_;
};

kw_span span_of(const cuda::DeviceMemory& memory) { return {memory.address(), memory.size()}; }

/// c = a + b as a candidate.
Case addition() {
  Case test;
  const int a = test.add("a", kernel::Role::Input, kCount, tensor::DType::Fp32);
  const int b = test.add("b", kernel::Role::Input, kCount, tensor::DType::Fp32);
  const int c = test.add("c", kernel::Role::Output, kCount, tensor::DType::Fp32);
  test.launch("vector_add", (kCount + 255) / 256, 256,
              {gpu_suite::pointer(a), gpu_suite::pointer(b), gpu_suite::pointer(c),
               gpu_suite::value<uint32_t>(kCount)});
  return test;
}

gpu::Request timing_of(const Case& test, size_t entries) {
  gpu::Request request;
  request.verb = gpu::Verb::Time;
  request.protocol_options.max_samples = 12;
  request.protocol_options.warmup_seconds = 0.01;
  gpu::ProgramMessage message;
  message.image = 1;
  message.program = test.program;
  for (uint64_t e = 0; e < entries; ++e) {
    message.pool.push_back({{2 * e + 1, {}}, {2 * e + 2, {}}, {0, {}}});
  }
  request.programs.push_back(message);
  return request;
}

TEST_F(ClockLibrary, TimesACandidateBesideAForeignGraph) {
  load();
  // Two entries of the pool; the third set of buffers is the baseline's own.
  std::vector<cuda::DeviceMemory> pool;
  for (float factor : {1.0F, 2.0F, -3.0F, 5.0F}) pool.push_back(numbers(factor));
  const cuda::DeviceMemory a = numbers(0), b = numbers(0), c = numbers(0);
  const Case test = addition();
  auto image = cuda::LoadedImage::load(*context_, ports::ImageKind::Ptx, gpu_suite::kKernels);
  ASSERT_TRUE(image) << image.error().message;
  auto function = (*image)->function("vector_add");
  ASSERT_TRUE(function);
  const auto& api = context_->api();
  ASSERT_EQ(api.capture_begin(context_->stream(), cuda::kCaptureThreadLocal), cuda::kSuccess);
  ASSERT_TRUE(cuda::enqueue_launch(*context_, **function, test.program.launches[0],
                                   {a.address(), b.address(), c.address()}));
  cuda::CuGraph graph = nullptr;
  ASSERT_EQ(api.capture_end(context_->stream(), &graph), cuda::kSuccess);

  const kw_span inputs[] = {span_of(a), span_of(b)};
  const kw_span outputs[] = {span_of(c)};
  std::vector<kw_span> entries;
  for (const cuda::DeviceMemory& memory : pool) entries.push_back(span_of(memory));
  void* graphs[] = {graph};
  const kw_baseline baseline{"eager", 1, 2, 1, 2, graphs, inputs, outputs, entries.data()};
  const gpu::Reply reply = ask(timing_of(test, 2), entries, {baseline});
  ASSERT_EQ(reply.error, "");
  ASSERT_EQ(reply.time.status, ports::RunStatus::Completed) << reply.time.message;
  ASSERT_EQ(reply.time.results.size(), 2U);
  const auto& [candidate, foreign] = std::tie(reply.time.results[0], reply.time.results[1]);
  EXPECT_EQ(candidate.samples.microseconds.size(), foreign.samples.microseconds.size());
  EXPECT_GT(candidate.samples.microseconds.size(), 3U);
  EXPECT_TRUE(candidate.findings.empty());
  // Both were given the same contents, so both must have written the same.
  std::map<int, uint64_t> by_entry;
  for (const auto& result : reply.time.results) {
    ASSERT_FALSE(result.audits.empty());
    for (const record::CallAudit& audit : result.audits) {
      ASSERT_EQ(audit.hashes.size(), 1U);
      const auto known = by_entry.emplace(audit.entry, audit.hashes[0]).first;
      EXPECT_EQ(known->second, audit.hashes[0]);
    }
  }
  EXPECT_EQ(by_entry.size(), 2U);
  EXPECT_NE(by_entry[0], by_entry[1]);
  EXPECT_EQ(library_.lost(clock_), 0);
  api.graph_destroy(graph);
}

TEST_F(ClockLibrary, RefusesWhatDoesNotFit) {
  const cuda::DeviceMemory a = numbers(1), b = numbers(2), c = numbers(0);
  const std::vector<kw_span> entries = {span_of(a), span_of(b)};
  EXPECT_NE(ask(timing_of(addition(), 1), entries).error.find("image 1 is not loaded"),
            std::string::npos);
  load();
  EXPECT_NE(ask(timing_of(addition(), 2), entries).error.find("no input 3"), std::string::npos);
  const kw_span outputs[] = {span_of(c)};
  void* graphs[] = {nullptr};
  const kw_baseline none{"none", 1, 2, 1, 1, graphs, entries.data(), outputs, entries.data()};
  EXPECT_NE(ask(timing_of(addition(), 1), entries, {none}).error.find("no graph"),
            std::string::npos);
  gpu::Request canary;
  canary.verb = gpu::Verb::Canary;
  EXPECT_NE(ask(canary).error.find("Load and Time only"), std::string::npos);
}

TEST_F(ClockLibrary, RefusesGarbageAndServesOn) {
  size_t bytes = 1;
  EXPECT_EQ(library_.ask(clock_, "garbage", 7, nullptr, 0, nullptr, 0, &bytes), nullptr);
  EXPECT_EQ(bytes, 0U);
  EXPECT_STRNE(library_.error(clock_), "");
  load();
}

TEST_F(ClockLibrary, SaysThatThereIsNoSuchDevice) {
  EXPECT_EQ(library_.open(99), nullptr);
  EXPECT_NE(std::string(library_.error(nullptr)).find("GPU 99 does not exist"), std::string::npos);
}

#ifdef KW_FAKE_DRIVER
TEST_F(ClockLibrary, IsSpokenToByPython) {
#ifdef KW_SANITIZED
  GTEST_SKIP() << "a sanitized library cannot be loaded by a Python that is not";
#endif
  gpu::Request request;
  request.verb = gpu::Verb::Time;
  request.protocol_options.max_samples = 6;
  request.protocol_options.warmup_seconds = 0.01;
  const std::string folder = testing::TempDir() + "kw_python_clock_" + std::to_string(::getpid());
  ASSERT_TRUE(os::make_directories(folder));
  ASSERT_TRUE(os::write_file(folder + "/frame", gpu::encode(request)));
  const auto run =
      os::run_process({"python3", "-I", KW_SOURCE_DIR "/tests/clock_library/python_clock.py",
                       KW_CLOCK_LIBRARY, KW_FAKE_DRIVER, folder + "/frame", folder + "/reply"});
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ(run->exit_code, 0) << run->err;
  const auto bytes = os::read_file(folder + "/reply");
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(bytes) << bytes.error().message;
  const gpu::Reply reply = gpu::decode_reply(*bytes).value();
  ASSERT_EQ(reply.error, "");
  ASSERT_EQ(reply.time.results.size(), 1U);
  EXPECT_FALSE(reply.time.results[0].samples.microseconds.empty());
  ASSERT_FALSE(reply.time.results[0].audits.empty());
  for (const record::CallAudit& audit : reply.time.results[0].audits) {
    const std::vector<std::byte> entry(256, static_cast<std::byte>(audit.entry + 1));
    ASSERT_EQ(audit.hashes.size(), 1U);
    EXPECT_EQ(audit.hashes[0], ports::audit_hash(entry));
  }
}
#endif

}  // namespace
}  // namespace kw::clock_library

int main(int argc, char** argv) {
#ifdef KW_FAKE_DRIVER
  ::setenv("KERNELWRIGHT_LIBCUDA", KW_FAKE_DRIVER, 1);
#endif
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
