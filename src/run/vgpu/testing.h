// For the tests of this module: builds a program around one kernel in a few lines. Not part of the
// product.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "vgpu/virtual_gpu.h"

namespace kw::vgpu::testing {

using kernel::Role;
using record::FindingKind;
using tensor::DType;

/// Builds and runs a program with one or more launches of kernels in one PTX text.
class Bench {
 public:
  explicit Bench(std::string ptx, const std::string& target = "sm_90") {
    auto device = VirtualGpu::open(target);
    if (device) device_ = std::move(device).value();
    ports::Compiled compiled;
    compiled.image = std::move(ptx);
    auto image = device_->load(compiled);
    if (image)
      image_ = *image;
    else
      load_error = image.error().message;
    program.module_name = "test.cu";
  }

  template <class T>
  int buffer(const std::string& name, Role role, DType dtype, const std::vector<T>& values,
             size_t count = 0) {
    kernel::Buffer b;
    b.name = name;
    b.role = role;
    b.dtype = dtype;
    b.shape = {static_cast<int64_t>(values.empty() ? count : values.size())};
    b.bytes = b.shape[0] * tensor::dtype_size(dtype);
    program.buffers.push_back(b);
    tensor::HostTensor t{dtype, b.shape, {}};
    t.data.resize(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(t.data.data(), values.data(), t.data.size());
    inputs.push_back(t);
    return static_cast<int>(program.buffers.size()) - 1;
  }
  int input(const std::string& name, const std::vector<float>& values) {
    return buffer(name, Role::Input, DType::Fp32, values);
  }
  int input(const std::string& name, const std::vector<int32_t>& values) {
    return buffer(name, Role::Input, DType::Int32, values);
  }
  int output(const std::string& name, size_t count, DType dtype = DType::Fp32) {
    return buffer<float>(name, Role::Output, dtype, {}, count);
  }
  int scratch(const std::string& name, size_t count, kernel::Fill fill = kernel::Fill::Poison,
              DType dtype = DType::Int32) {
    const int index = buffer<float>(name, Role::Scratch, dtype, {}, count);
    program.buffers.back().fill = fill;
    return index;
  }

  kernel::Launch& launch(const std::string& entry, kernel::Dim3 grid, kernel::Dim3 block) {
    kernel::Launch l;
    l.kernel = l.entry = entry;
    l.grid = grid;
    l.block = block;
    l.line = 7;
    program.launches.push_back(l);
    return program.launches.back();
  }
  static kernel::Param pointer(int buffer) { return {buffer, {}, "buffer"}; }
  template <class T>
  static kernel::Param value(T v) {
    kernel::Param p{-1, std::vector<uint8_t>(sizeof v), "value"};
    std::memcpy(p.bytes.data(), &v, sizeof v);
    return p;
  }

  ports::RunOutcome& run() {
    EXPECT_EQ(load_error, "");
    auto result = device_->run(image_, program, inputs, options);
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
    if (result) outcome = std::move(result).value();
    return outcome;
  }
  template <class T>
  std::vector<T> read(int buffer) const {
    const auto& data = outcome.buffers[static_cast<size_t>(buffer)].data;
    std::vector<T> values(data.size() / sizeof(T));
    if (!data.empty()) std::memcpy(values.data(), data.data(), data.size());
    return values;
  }
  const record::Finding* found(FindingKind kind) const {
    for (const record::Finding& f : outcome.findings) {
      if (f.kind == kind) return &f;
    }
    return nullptr;
  }
  /// All findings, one per line, for failure messages.
  std::string findings() const {
    std::string text;
    for (const record::Finding& f : outcome.findings) {
      text += std::string(record::finding_name(f.kind)) + " line " + std::to_string(f.at.line) +
              " ptx " + std::to_string(f.at.ptx_line) +
              (f.certainty == record::Certainty::Warning ? " (warning)" : "") + ": " + f.message +
              "\n";
    }
    return text;
  }

  kernel::Program program;
  std::vector<tensor::HostTensor> inputs;
  ports::RunOptions options;
  ports::RunOutcome outcome;
  std::string load_error;

 private:
  std::unique_ptr<VirtualGpu> device_;
  ports::ImageId image_ = 0;
};

/// A whole PTX text around one kernel's parameters and body.
inline std::string entry(const std::string& params, const std::string& body,
                         const std::string& before = "") {
  return ".version 8.0\n.target sm_80\n.address_size 64\n" + before + "\n.visible .entry k(" +
         params + ")\n{\n" +
         ".reg .pred %p<20>;\n.reg .b16 %h<20>;\n.reg .b32 %r<60>;\n.reg .f32 %f<40>;\n.reg .b64 "
         "%rd<40>;\n.reg .f64 "
         "%d<20>;\n" +
         body + "\nret;\n}\n";
}

inline std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace kw::vgpu::testing
