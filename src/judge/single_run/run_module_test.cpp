#include "single_run/run_module.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "binding/load.h"
#include "os/files.h"
#include "single_run/fakes.h"
#include "single_run/json.h"
#include "tensor/npy.h"

namespace kw::single_run {

namespace {

constexpr char kRunModule[] =
    "//! kernelwright 1\n"
    "//! task scale\n"
    "//! input x: fp32[N, M]\n"
    "//! output y: fp32[N, M]\n"
    "//! tune WIDTH in 32, 64\n"
    "//! when M % WIDTH == 0\n"
    "//! launch scale<WIDTH> grid(N) block(WIDTH) args(x, y, M)\n"
    "//! when M > 4\n"
    "//! launch scale<1> grid(N) block(32) args(x, y, M)\n"
    "template <int kWidth>\n"
    "__global__ void scale(const float* x, float* y, int m) {}\n";

kernel::Module module(const std::string& text = kRunModule) {
  Result<kernel::Module> parsed = binding::parse_module(text, "scale.cu");
  if (!parsed) throw std::runtime_error(parsed.error().message);
  return std::move(parsed).value();
}

RunRequest request(int64_t n, int64_t m) {
  RunRequest r;
  r.bindings.dims = {{"N", n}, {"M", m}};
  return r;
}

class RunStory : public testing::Test {
 protected:
  FakeCompiler compiler;
  FakeDevice device;

  Result<RunReport> run(const RunRequest& r) { return run_module(module(), r, compiler, device); }
  std::string error_of(const RunRequest& r) {
    const auto result = run(r);
    return result ? "no error" : result.error().message;
  }
};

}  // namespace

TEST_F(RunStory, GoesFromWordsToOutputs) {
  const auto report = run(request(3, 64));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->passed());
  ASSERT_EQ(compiler.requests.size(), 1U);
  EXPECT_EQ(compiler.requests[0].kernels, std::vector<std::string>{"scale<32>"});
  EXPECT_EQ(compiler.requests[0].target, "sm_90");
  EXPECT_EQ(compiler.requests[0].image, ports::ImageKind::Ptx);
  ASSERT_EQ(device.runs.size(), 1U);
  EXPECT_EQ(device.programs[0].launches[0].grid.x, 3U);
  EXPECT_EQ(device.inputs_seen[0][0].data.size(), 3U * 64 * 4);
  ASSERT_EQ(report->outputs.size(), 1U);
  EXPECT_EQ(report->outputs[0].shape, (std::vector<int64_t>{3, 64}));
  EXPECT_NE(report->outputs[0].min, report->outputs[0].max);
}

TEST_F(RunStory, SameSeedSameInputs) {
  ASSERT_TRUE(run(request(3, 64)));
  ASSERT_TRUE(run(request(3, 64)));
  RunRequest other = request(3, 64);
  other.seed = 1;
  ASSERT_TRUE(run(other));
  EXPECT_EQ(device.inputs_seen[0][0].data, device.inputs_seen[1][0].data);
  EXPECT_NE(device.inputs_seen[0][0].data, device.inputs_seen[2][0].data);
}

TEST_F(RunStory, ACompileFailureIsAReportAndTouchesNoDevice) {
  compiler.fail = true;
  const auto report = run(request(3, 64));
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->passed());
  EXPECT_EQ(device.loads, 0);
  EXPECT_EQ(to_json(*report, module())["compile"]["messages"].items()[0]["line"].as_int(), 3);
}

TEST_F(RunStory, OnlyCertainFindingsCondemn) {
  device.findings.resize(1);
  device.findings[0].certainty = record::Certainty::Warning;
  EXPECT_TRUE(run(request(3, 64))->passed());
  device.findings[0].certainty = record::Certainty::Certain;
  EXPECT_FALSE(run(request(3, 64))->passed());
  device.findings.clear();
  device.status = ports::RunStatus::Hung;
  EXPECT_FALSE(run(request(3, 64))->passed());
  EXPECT_TRUE(run(request(3, 64))->outputs.empty()) << "half-written outputs are not results";
}

TEST_F(RunStory, CountersAreASecondRun) {
  RunRequest r = request(3, 64);
  r.counters = r.check_order = true;
  const auto report = run(r);
  ASSERT_TRUE(report);
  ASSERT_EQ(device.runs.size(), 2U);
  EXPECT_FALSE(device.runs[0].counters);
  EXPECT_TRUE(device.runs[0].check_order);
  EXPECT_TRUE(device.runs[1].counters);
  EXPECT_EQ(report->counters.size(), 1U);
}

TEST_F(RunStory, TimesOnlyOnARealGpu) {
  RunRequest r = request(3, 64);
  r.time = true;
  const auto refused = run(r);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().blame, Blame::Environment);
  EXPECT_TRUE(compiler.requests.empty());
  device.description.is_virtual = false;
  EXPECT_TRUE(run(r)->timing);
  r.counters = true;
  EXPECT_NE(error_of(r).find("only the virtual GPU"), std::string::npos);
}

TEST_F(RunStory, AGpuGetsPtxWhereNothingMakesCubins) {
  device.description.is_virtual = false;
  device.description.image = ports::ImageKind::Cubin;
  EXPECT_TRUE(run(request(3, 64))->notes.empty());
  compiler.makes_cubins = false;
  const auto report = run(request(3, 64));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->compiled->kind, ports::ImageKind::Ptx);
  ASSERT_EQ(report->notes.size(), 1U);
  EXPECT_NE(report->notes[0].find("no ptxas"), std::string::npos);
}

TEST_F(RunStory, RefusesTensorsLargerThanMemoryBeforeMakingThem) {
  const auto report = run(request(1 << 30, 1 << 20));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().blame, Blame::Environment);
  EXPECT_NE(report.error().message.find("memory"), std::string::npos) << report.error().message;
  EXPECT_TRUE(device.runs.empty());
}

struct BadWords {
  const char* name;
  std::function<void(RunRequest&)> change;
  const char* message;
};

TEST_F(RunStory, RefusesWordsThatDoNotFitTheModule) {
  const std::vector<BadWords> cases = {
      {"unknown dim", [](RunRequest& r) { r.bindings.dims["Q"] = 1; }, "Q"},
      {"missing dim", [](RunRequest& r) { r.bindings.dims.erase("M"); }, "M"},
      {"unknown tune", [](RunRequest& r) { r.bindings.tunes["WIDHT"] = 32; }, "WIDHT"},
      {"value not in list", [](RunRequest& r) { r.bindings.tunes["WIDTH"] = 48; }, "48"},
      {"unknown scalar", [](RunRequest& r) { r.bindings.scalars["eps"] = "1"; }, "no such scalar"},
      {"absent", [](RunRequest& r) { r.bindings.absent.insert("x"); }, "not an optional input"},
      {"unknown input", [](RunRequest& r) { r.inputs["z"] = {}; }, "has no tensor 'z'"},
      {"output as input", [](RunRequest& r) { r.inputs["y"] = {}; }, "does not read 'y'"},
      {"outside the domain", [](RunRequest& r) { r.bindings.dims["M"] = 3; }, "domain"},
      {"unknown target", [](RunRequest& r) { r.target = "sm_12"; }, "sm_12"},
      {"missing file", [](RunRequest& r) { r.inputs["x"].file = "/no/such/file.npy"; },
       "/no/such/file.npy"},
  };
  for (const BadWords& c : cases) {
    RunRequest r = request(2, 64);
    c.change(r);
    const auto result = run(r);
    ASSERT_FALSE(result) << c.name;
    EXPECT_EQ(result.error().blame, Blame::Input) << c.name;
    EXPECT_NE(result.error().message.find(c.message), std::string::npos)
        << c.name << ": " << result.error().message;
  }
  EXPECT_TRUE(device.runs.empty());
}

TEST_F(RunStory, FilesGiveDimsAndMustAgree) {
  const std::string path =
      testing::TempDir() + "kw_run_test_" + std::to_string(::getpid()) + ".npy";
  const tensor::HostTensor x =
      tensor::make_input(tensor::DType::Fp32, {2, 32}, tensor::Family::Iota, 0).value();
  ASSERT_TRUE(tensor::write_npy(path, x));
  RunRequest r;
  r.inputs["x"].file = path;
  const auto report = run(r);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->bindings.dims.at("M"), 32);
  EXPECT_EQ(device.inputs_seen[0][0].data, x.data);
  r.bindings.dims["N"] = 5;
  EXPECT_NE(error_of(r).find("disagrees"), std::string::npos);
  const std::string folder = testing::TempDir() + "kw_run_test_out_" + std::to_string(::getpid());
  const auto written = write_outputs(*report, folder);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(tensor::read_npy(folder + "/y.npy")->data, x.data);
  EXPECT_TRUE(os::remove_file(path));
  EXPECT_TRUE(os::remove_file(folder + "/y.npy"));
  ::rmdir(folder.c_str());
}

TEST(InputSources, AreReadFromText) {
  EXPECT_EQ(binding::parse_input_source("a/b.bin")->file, "a/b.bin");
  EXPECT_EQ(binding::parse_input_source("x.npy")->file, "x.npy");
  EXPECT_EQ(binding::parse_input_source("heavy")->family, tensor::Family::Heavy);
  EXPECT_EQ(*binding::parse_input_source("heavy:7")->seed, 7U);
  EXPECT_EQ(binding::parse_input_source("uniform:7:-3..9")->range->low, -3);
  for (const char* bad : {"gauss", "normal:", "normal:-1", "normal:x", "uniform:1:5",
                          "uniform:1:9..2", "uniform:1:2..3:4", ""}) {
    EXPECT_FALSE(binding::parse_input_source(bad)) << bad;
  }
  EXPECT_NE(binding::parse_input_source("normel").error().message.find("did you mean 'normal'"),
            std::string::npos);
}

TEST(Load, RefusesWhatIsNoModule) {
  EXPECT_NE(binding::parse_module("", "a.cu").error().message.find("is empty"), std::string::npos);
  EXPECT_NE(binding::parse_module(std::string("\x7f"
                                              "ELF\0\0",
                                              6),
                                  "a.out")
                .error()
                .message.find("binary"),
            std::string::npos);
  const auto many = binding::parse_module("//! kernelwright 1\n//! inptu x\n//! foo\n", "a.cu");
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().blame, Blame::Input);
  EXPECT_NE(many.error().message.find("a.cu:2:"), std::string::npos) << many.error().message;
  EXPECT_NE(many.error().message.find("a.cu:3:"), std::string::npos) << many.error().message;
  EXPECT_EQ(binding::load_module("/no/such.cu").error().blame, Blame::Input);
}

}  // namespace kw::single_run
