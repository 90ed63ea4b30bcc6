// A settled recording becomes a kernel module: the foreign file's PTX under plan lines that say,
// for every recorded shape, exactly what its launcher did. From then on it is a candidate like any
// other; no foreign host code runs again.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host_recording/recording.h"
#include "kernel/program.h"
#include "tensor/dtype.h"

namespace kw::host_recording {

struct TensorLine {
  std::string name;
  kernel::Role role = kernel::Role::Input;
  tensor::DType dtype = tensor::DType::Fp32;
  std::vector<std::string> shape;  // expressions of dims
};

struct ShapeRecord {
  std::map<std::string, int64_t> dims;
  const Call* call = nullptr;
};

struct TransplantRequest {
  std::string task, origin;  // origin: "solve.cu, launcher solve, nvcc 13.0.88"
  bool backward = false;
  std::vector<TensorLine> tensors;  // Pointer::tensor counts these
  std::vector<ShapeRecord> shapes;  // the most important first
  std::string ptx;
};

struct Transplanted {
  std::string module;   // "" when refused
  std::string refused;  // why it cannot be said in plan lines
  std::vector<std::string> notes;
};

Transplanted transplant(const TransplantRequest& request);

/// The PTX with a device variable that begins with these bytes; nothing when it declares none such.
std::string with_initial_value(const std::string& ptx, const std::string& variable,
                               const std::vector<uint8_t>& bytes);

}  // namespace kw::host_recording
