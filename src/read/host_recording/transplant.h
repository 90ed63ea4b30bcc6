// Makes a kernel module from an accepted recording: the foreign file's PTX with plan lines for
// every recorded shape. It is then a candidate like any other; foreign host code does not run
// again.
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
  const RecordedCall* call = nullptr;
};

struct TransplantRequest {
  std::string task, origin;  // origin: "solve.cu, launcher solve, nvcc 13.0.88"
  bool backward = false;
  std::vector<TensorLine> tensors;  // Pointer::tensor is an index into these
  std::vector<ShapeRecord> shapes;  // the most important first
  std::string ptx;
};

struct Transplanted {
  std::string module;   // "" if refused
  std::string refused;  // why plan lines cannot express it
  std::vector<std::string> notes;
};

Transplanted transplant(const TransplantRequest& request);

/// The PTX with an initial value for a device variable; "" if it does not declare that variable.
std::string with_initial_value(const std::string& ptx, const std::string& variable,
                               const std::vector<uint8_t>& bytes);

}  // namespace kw::host_recording
