// Puts small programs together for the suite.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "kernel/program.h"
#include "ports/device.h"
#include "tensor/host_tensor.h"

namespace kw::gpu_suite {

inline kernel::Param pointer(int buffer) {
  return {buffer, {}, "buffer " + std::to_string(buffer)};
}

template <typename T>
kernel::Param value(T v) {
  kernel::Param param;
  param.bytes.resize(sizeof(T));
  std::memcpy(param.bytes.data(), &v, sizeof(T));
  param.name = "value";
  return param;
}

/// A program with its inputs; buffers are one-dimensional and of 4-byte elements.
struct Case {
  kernel::Program program;
  std::vector<tensor::HostTensor> inputs;

  Case() { program.module_name = "suite.cu"; }

  int add(const std::string& name, kernel::Role role, int64_t count,
          tensor::DType dtype = tensor::DType::Uint32, kernel::Fill fill = kernel::Fill::Poison) {
    kernel::Buffer buffer;
    buffer.name = name;
    buffer.role = role;
    buffer.dtype = dtype;
    buffer.shape = {count};
    buffer.bytes = count * tensor::dtype_size(dtype);
    buffer.fill = fill;
    program.buffers.push_back(buffer);
    tensor::HostTensor tensor;
    tensor.dtype = dtype;
    tensor.shape = {count};
    if (role == kernel::Role::Input || role == kernel::Role::Inout) {
      tensor.data.resize(static_cast<size_t>(buffer.bytes));
    }
    inputs.push_back(tensor);
    return static_cast<int>(program.buffers.size()) - 1;
  }

  template <typename T>
  T* data(int buffer) {
    return reinterpret_cast<T*>(inputs[static_cast<size_t>(buffer)].data.data());
  }

  kernel::Launch& launch(const std::string& entry, uint32_t grid, uint32_t block,
                         std::vector<kernel::Param> params) {
    kernel::Launch launch;
    launch.kernel = launch.entry = entry;
    launch.grid.x = grid;
    launch.block.x = block;
    launch.params = std::move(params);
    launch.line = 7;
    program.launches.push_back(launch);
    return program.launches.back();
  }
};

template <typename T>
std::vector<T> values(const tensor::HostTensor& tensor) {
  std::vector<T> out(tensor.data.size() / sizeof(T));
  std::memcpy(out.data(), tensor.data.data(), out.size() * sizeof(T));
  return out;
}

inline Case spinning(uint64_t nanoseconds) {
  Case test;
  test.launch("spin", 1, 1, {value(nanoseconds)});
  return test;
}

}  // namespace kw::gpu_suite
