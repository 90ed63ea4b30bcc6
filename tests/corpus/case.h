// One corpus case: the tensors of a module at concrete dims, filled from a seed, and what the host
// says the outputs are. References read inputs and write expected outputs through it. Not for
// running anything (see run.h).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kernel/module.h"
#include "kernel/program.h"
#include "tensor/host_tensor.h"

namespace kw::corpus {

/// What a module is bound to.
struct Setting {
  std::map<std::string, int64_t> dims = {};
  std::map<std::string, int64_t> tunes = {};
  std::map<std::string, double> scalars = {};
  std::map<std::string, int64_t> integer_scalars = {};
  std::set<std::string> absent = {};

  /// "N=7 THREADS=128 without bias".
  std::string text() const;
};

/// One setting per value of one dim.
std::vector<Setting> sweep(const std::string& dim, const std::vector<int64_t>& values);
/// One setting per row of values for the named dims.
std::vector<Setting> rows(const std::vector<std::string>& dims,
                          const std::vector<std::vector<int64_t>>& values);

/// A small deterministic generator; the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t bits();
  /// In [low, high].
  int64_t integer(int64_t low, int64_t high);
  /// In [low, high).
  double real(double low, double high);

 private:
  uint64_t state_;
};

class Case {
 public:
  /// Fills every input and inout: floats in [-4, 4), signed integers in [-100, 100], unsigned ones
  /// over their range.
  Case(const kernel::Module& module, const kernel::Program& program, const Setting& setting,
       uint64_t seed);

  int64_t dim(const std::string& name) const;
  /// The bound value, else the module's default.
  double scalar(const std::string& name) const;
  int64_t integer_scalar(const std::string& name) const;
  bool has(const std::string& input) const;
  /// The bound value, else the first of the module's list.
  int64_t tune(const std::string& name) const;

  /// Inputs, as the device gets them.
  template <typename T>
  std::span<T> in(const std::string& name) {
    return view<T>(inputs_[index(name)]);
  }
  /// Expected outputs, as the reference says; zero before it ran.
  template <typename T>
  std::span<T> out(const std::string& name) {
    return view<T>(expected_[index(name)]);
  }
  double get(const std::string& input, int64_t element) const;
  void set(const std::string& output, int64_t element, double value);
  /// What set() left there, rounded to the output's type.
  double expected_at(const std::string& output, int64_t element) const;
  int64_t size(const std::string& tensor) const;
  /// Refills an input with reals in [low, high), rounded to its type, or with whole numbers in
  /// [low, high].
  void fill_real(const std::string& input, double low, double high);
  void fill_integer(const std::string& input, int64_t low, int64_t high);
  /// Multiplies every element of an input.
  void scale(const std::string& input, double by);

  Random& random() { return random_; }
  /// Parallel to Program::buffers.
  const std::vector<tensor::HostTensor>& inputs() const { return inputs_; }
  const std::vector<tensor::HostTensor>& expected() const { return expected_; }

 private:
  size_t index(const std::string& name) const;
  template <typename T>
  static std::span<T> view(tensor::HostTensor& tensor) {
    return {reinterpret_cast<T*>(tensor.data.data()), tensor.data.size() / sizeof(T)};
  }
  void fill_default(tensor::HostTensor& tensor);

  const kernel::Module& module_;
  const Setting& setting_;
  std::vector<kernel::Buffer> buffers_;
  std::vector<tensor::HostTensor> inputs_, expected_;
  Random random_;
};

}  // namespace kw::corpus
