// Writes the device code of one node: the interpreter's chunk program, for single elements. Text
// only; gpu_plan.h decides which kernels a graph needs. The code calls gpu_rules.cuh, gpu_jumps.cuh
// and the rules of src/judge/truth.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "truth/chunk_program.h"

namespace kw::truth_gpu {

/// The buffers that hold a node's value, by index in the launch.
struct NodeBuffers {
  int t = -1, a = -1, h = -1;  // t holds int64 when the node is an integer
  int lo = -1, hi = -1;        // set when the node may jump
};
struct GpuSources {
  std::vector<int> inputs;                          // per graph input: buffer index
  std::vector<NodeBuffers> values;                  // per node, for the current pass
  const tensor::HostTensor* first_input = nullptr;  // the base of Instruction::input
  const truth::Tensor* first_value = nullptr;       // the base of Instruction::value
};

/// One kernel under construction: its parameters and its lines.
class KernelText {
 public:
  /// Returns the name of the parameter for a buffer; `type` is such as "const double*".
  std::string param(int buffer, const std::string& type);
  void line(const std::string& text) { lines_ += "    " + text + "\n"; }
  void add(const std::string& lines) { lines_ += lines; }

  const std::vector<int>& buffers() const { return buffers_; }
  const std::string& lines() const { return lines_; }
  /// Returns a list such as "const unsigned short* p3, double* p4".
  std::string parameters() const;

 private:
  std::vector<int> buffers_;
  std::map<int, std::string> types_;
  std::string lines_;
};

/// The names of an element in its kernel. `value` is a TrackedValue, or an Int if the program's
/// result is an integer. `jump` is a Jump; "" if the element never jumps.
struct ElementName {
  std::string value, jump;
};

/// Adds the lines that compute the program's element at position `p`. An Error names what has no
/// device code.
Result<ElementName> write_element(const truth::TruthProgram& program, const GpuSources& sources,
                                  KernelText* kernel);

/// Returns the constants, rules and functions that the kernels call.
std::string rules_text();
/// Returns a double as device code with exactly the same bits.
std::string number_text(double value);
/// Returns the members of a Rounding.
std::string rounding_text(const truth::Rounding& rounding);
/// Returns the format that a node of this type is rounded to in this mode; "kNone" if it is not
/// rounded.
std::string format_text(truth::Mode mode, tensor::DType type);
/// Returns an Int expression for the address of the view's element at position `p`.
std::string address_text(const truth::View& view);

}  // namespace kw::truth_gpu
