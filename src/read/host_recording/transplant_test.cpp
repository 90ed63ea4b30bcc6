#include "host_recording/transplant.h"

#include <gtest/gtest.h>

#include "host_recording/helpers.h"
#include "host_recording/recording_job.h"
#include "host_recording/recording_source.h"
#include "kernel/parse_module.h"

namespace kw::host_recording {
namespace {

constexpr const char* kPtx =
    ".version 8.3\n.target sm_90\n.address_size 64\n"
    "// a comment that goes\n"
    ".const .align 4 .b8 w[16];\n"
    ".visible .global .align 4 .f32 scale;\n"
    ".visible .entry k(\n\t.param .u64 k_0,\n\t.param .align 8 .b8 k_1[24],\n\t.param .u32 k_2\n)\n"
    "{\n\tret;\n}\n.visible .entry none()\n{\n\tret;\n}\n";

Param pointer(int tensor, int scratch, int64_t add) {
  Param param;
  param.bytes.assign(8, 0);
  param.pointers = {{0, tensor, scratch, add}};
  return param;
}

RecordedCall launching(uint32_t grid, uint64_t scratch) {
  RecordedCall call;
  RecordedStep step;
  step.name = "k";
  step.grid = {grid, 1, 1};
  step.block = {32, 1, 1};
  step.params = {pointer(0, -1, 0), pointer(1, -1, 4), pointer(-1, 0, 0)};
  call.steps = {step};
  call.scratch = {scratch};
  call.finished = true;
  return call;
}

TransplantRequest request(const std::vector<ShapeRecord>& shapes) {
  TransplantRequest made;
  made.task = "add";
  made.origin = "add.cu, launcher solve";
  made.tensors = {{"x", kernel::Role::Input, tensor::DType::Fp32, {"N"}},
                  {"y", kernel::Role::Output, tensor::DType::Fp32, {"N"}}};
  made.shapes = shapes;
  made.ptx = kPtx;
  return made;
}

std::string problems(const std::string& module) {
  const kernel::ParseOutcome parsed = kernel::parse(module, "a.cu");
  return cuda_source::render_diagnostics(parsed.diagnostics, module, "a.cu");
}

TEST(Transplant, EveryShapeIsAGroupAndTheModuleParses) {
  const RecordedCall small = launching(1, 64), large = launching(4, 256);
  const Transplanted made = transplant(request({{{{"N", 8}}, &small}, {{{"N", 128}}, &large}}));
  ASSERT_EQ(made.refused, "");
  EXPECT_EQ(problems(made.module), "");
  EXPECT_NE(made.module.find("//! when N == 8\n//! launch k grid(1) block(32) params(x, y+4, "
                             "scratch_0)\n"),
            std::string::npos)
      << made.module;
  EXPECT_NE(made.module.find("uint8[(N == 8) * 64 + (N == 128) * 256] align 256"),
            std::string::npos);
  EXPECT_EQ(made.module.find("a comment that goes"), std::string::npos);
}

TEST(Transplant, FillsCopiesAndUploadsBecomeLaunches) {
  RecordedCall call = launching(1, 64);
  RecordedStep fill, copy, upload;
  fill.kind = RecordedStep::Kind::Fill;
  fill.params = {pointer(-1, 0, 0)};
  fill.numbers = {64, 1, 64, 0, 1};
  copy.kind = RecordedStep::Kind::Copy;
  copy.params = {pointer(1, -1, 0), pointer(0, -1, 0)};
  copy.numbers = {32, 1, 32, 32};
  upload.kind = RecordedStep::Kind::Upload;
  upload.params = {pointer(-1, 0, 0)};
  upload.data.assign(4000, 7);
  call.steps.insert(call.steps.end(), {fill, copy, upload});
  const Transplanted made = transplant(request({{{{"N", 8}}, &call}}));
  ASSERT_EQ(made.refused, "");
  EXPECT_EQ(problems(made.module), "");
  EXPECT_NE(made.module.find("launch kw_fill "), std::string::npos);
  EXPECT_NE(made.module.find("launch kw_copy "), std::string::npos);
  EXPECT_NE(made.module.find("params(scratch_0+3072, #"), std::string::npos);
}

TEST(Transplant, FillsRepeatTheirElement) {
  const struct {
    uint64_t value, element;
    std::vector<uint8_t> bytes;
  } rows[] = {{0x1ab, 1, {0xab, 0xab, 0xab, 0xab}},
              {0x3c00, 2, {0x00, 0x3c, 0x00, 0x3c}},
              {0xff800000, 4, {0x00, 0x00, 0x80, 0xff}}};
  for (const auto& row : rows) {
    RecordedStep fill;
    fill.kind = RecordedStep::Kind::Fill;
    fill.params = {pointer(0, -1, 0)};
    fill.numbers = {64, 1, 64, row.value, row.element};
    EXPECT_EQ(fill_call(fill).params.back().bytes, row.bytes) << row.value;
  }
}

TEST(Transplant, MovesSayTheirSteps) {
  RecordedStep move;
  move.kind = RecordedStep::Kind::Move;
  move.params = {pointer(1, -1, 0), pointer(0, -1, 0)};
  move.numbers = {4, 5, 7, 1, 3, 1, 5};  // [5, 3], transposed on one side
  const HelperCall call = move_call(move);
  EXPECT_EQ(call.entry, "kw_move");
  ASSERT_EQ(call.params.size(), 5u);
  const std::vector<uint8_t>& steps = call.params[2].bytes;
  ASSERT_EQ(steps.size(), 8u * 24);
  const struct {
    size_t word;
    uint8_t value;
  } rows[] = {{0, 5}, {1, 3}, {2, 1}, {7, 1}, {8, 7}, {9, 1}, {10, 0}, {16, 1}, {17, 5}, {23, 0}};
  for (const auto& row : rows) EXPECT_EQ(steps[row.word * 8], row.value) << row.word;
  EXPECT_EQ(call.params[4].bytes[0], 15);
}

TEST(Transplant, VariablesKeepOneValue) {
  RecordedCall call = launching(1, 64), other = launching(2, 64);
  RecordedStep symbol;
  symbol.kind = RecordedStep::Kind::Symbol;
  symbol.name = "w";
  symbol.numbers = {4};
  symbol.data = {1, 2};
  call.steps.push_back(symbol);
  const Transplanted made = transplant(request({{{{"N", 8}}, &call}}));
  ASSERT_EQ(made.refused, "");
  EXPECT_NE(made.module.find(".const .align 4 .b8 w[16] = {0, 0, 0, 0, 1, 2};"), std::string::npos);
  symbol.data = {3, 2};
  other.steps.push_back(symbol);
  EXPECT_NE(transplant(request({{{{"N", 8}}, &call}, {{{"N", 9}}, &other}}))
                .refused.find("several values"),
            std::string::npos);
  EXPECT_NE(
      with_initial_value(kPtx, "scale", {0, 0, 128, 63}).find(".b8 scale[4] = {0, 0, 128, 63};"),
      std::string::npos);
  EXPECT_EQ(with_initial_value(kPtx, "absent", {1}), "");
}

TEST(Transplant, RefusesWhatNoPlanCanSay) {
  const RecordedCall one = launching(1, 64), two = launching(2, 64);
  TransplantRequest hidden = request({{{{"N", 8}, {"K", 1}}, &one}, {{{"N", 8}, {"K", 2}}, &two}});
  EXPECT_NE(transplant(hidden).refused.find("a dim that no tensor has"), std::string::npos);
  RecordedCall large = launching(1, 64);
  RecordedStep upload;
  upload.kind = RecordedStep::Kind::Upload;
  upload.params = {pointer(-1, 0, 0)};
  upload.data.assign(70000, 1);
  large.steps.push_back(upload);
  EXPECT_NE(transplant(request({{{{"N", 8}}, &large}})).refused.find("64 KiB"), std::string::npos);
  RecordedCall many = launching(1, 64);
  many.steps.resize(2000, many.steps[0]);
  EXPECT_NE(transplant(request({{{{"N", 8}}, &many}})).refused.find("lines at most"),
            std::string::npos);
  EXPECT_EQ(transplant(request({})).refused, "nothing was recorded");
}

TEST(Source, KeepsTheLinesOfTheFile) {
  const std::string with = with_trampoline("int a;\n", "f.cu", "solve");
  EXPECT_EQ(with.find("#line 1 \"f.cu\"\nint a;\n"), 0u);
  EXPECT_NE(with.find("#define KW_LAUNCHER solve\n"), std::string::npos);
  EXPECT_NE(with.find(" kw_fill("), std::string::npos);
  EXPECT_EQ(with_functions("int a;\n", "f.cu", false).find(" kw_fill("), std::string::npos);
  EXPECT_NE(with_functions("int a;\n", "f.cu", true).find("kw_extension_call"), std::string::npos);
}

TEST(Source, KnowsWhoAsksForTorch) {
  EXPECT_TRUE(wants_torch("#include <torch/extension.h>"));
  EXPECT_TRUE(wants_torch("#include \"ATen/ATen.h\""));
  EXPECT_FALSE(wants_torch("#include <cuda_runtime.h>"));
  for (const ShimHeader& header : torch_headers()) EXPECT_FALSE(header.text.empty()) << header.path;
}

TEST(CaptiveJob, TravelsAsJson) {
  CaptiveJob job;
  job.runtime = "/a";
  job.library = "/b";
  job.readable = {"/c"};
  job.kernels["k"] = {{8, 24, 4}, 10, 20, 30, 40};
  job.attributes = {{-2, 100}, {16, 132}};
  job.memory_bytes = uint64_t{1} << 40;
  job.base = uint64_t{1} << 47;
  job.cases = {{{64, 64}, {{0, {}}, {-1, {1, 2, 3, 4}}}}};
  const Result<CaptiveJob> back = job_from_json(*Json::parse(to_json(job).dump()));
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(*back).dump(), to_json(job).dump());
  EXPECT_EQ(back->kernels.at("k").params, (std::vector<int64_t>{8, 24, 4}));
  EXPECT_FALSE(job_from_json(Json::object()));
}

TEST(CaptiveJob, ReadsParametersOfEntries) {
  const auto params = entry_params(kPtx);
  ASSERT_EQ(params.size(), 2u);
  EXPECT_EQ(params.at("k"), (std::vector<int64_t>{8, 24, 4}));
  EXPECT_TRUE(params.at("none").empty());
  EXPECT_EQ(entry_params(".entry f(.param .u64 .ptr .global .align 1 f_0, .param .b8 f_1)").at("f"),
            (std::vector<int64_t>{8, 1}));
}

}  // namespace
}  // namespace kw::host_recording
