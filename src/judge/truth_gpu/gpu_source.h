// The device code of one node: a program of chunks written down for single elements. Text only;
// gpu_plan.h says which kernels a graph needs, gpu_rules.cuh and gpu_jumps.cuh have the rules they
// call.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "truth/program.h"

namespace kw::truth_gpu {

/// Where a kernel finds what it reads: buffers of the launch by number.
struct NodeBuffers {
  int t = -1, a = -1, h = -1;  // t holds int64 where the node is an integer
  int lo = -1, hi = -1;        // where it may jump
};
struct GpuSources {
  std::vector<int> inputs;                          // per graph input
  std::vector<NodeBuffers> values;                  // per node, of the pass being written
  const tensor::HostTensor* first_input = nullptr;  // what Instruction::input counts from
  const truth::Tensor* first_value = nullptr;       // the same of Instruction::value
};

/// One kernel under construction: its parameters and its lines.
class KernelText {
 public:
  /// The parameter that points to a buffer; `type` as in "const double*".
  std::string param(int buffer, const std::string& type);
  void line(const std::string& text) { lines_ += "    " + text + "\n"; }
  void add(const std::string& lines) { lines_ += lines; }

  const std::vector<int>& buffers() const { return buffers_; }
  const std::string& lines() const { return lines_; }
  /// "const unsigned short* p3, double* p4".
  std::string parameters() const;

 private:
  std::vector<int> buffers_;
  std::map<int, std::string> types_;
  std::string lines_;
};

/// What an element is called in its kernel: a Value, or an Int where the program's result is an
/// integer, and beside it a Jump; "" where it never jumps.
struct ElementName {
  std::string value, jump;
};

/// Adds the lines that compute the program's element at position `p`. An Error names what no device
/// code is written for.
Result<ElementName> write_element(const truth::Program& program, const GpuSources& sources,
                                  KernelText* kernel);

/// Constants, rules and functions that the kernels of a truth call.
std::string rules_text();
/// A double as device code, bit for bit.
std::string number_text(double value);
/// The format a node of this type is rounded to where the mode rounds at all.
std::string format_text(truth::Mode mode, tensor::DType type);
/// "Int" positions of a view: the element at position `p`.
std::string address_text(const truth::View& view);

}  // namespace kw::truth_gpu
