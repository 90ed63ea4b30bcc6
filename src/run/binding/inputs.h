// Makes the inputs of a program: from .npy files that the user names, otherwise from seeded
// families.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "kernel/module.h"
#include "kernel/program.h"
#include "tensor/host_tensor.h"
#include "tensor/inputs.h"

namespace kw::binding {

/// The source of one input: a file, or a family with its seed.
struct InputSource {
  std::string file;  // "": seeded
  tensor::Family family = tensor::Family::Normal;
  std::optional<uint64_t> seed;  // not set: derived from the run's seed and the input's position
  std::optional<tensor::IntegerRange> range;
};

/// Accepts "x.npy", "normal", "uniform:7", "uniform:7:0..99". Otherwise an input Error that lists
/// the families.
Result<InputSource> parse_input_source(const std::string& text);

using InputSources = std::map<std::string, InputSource>;
using NamedTensors = std::map<std::string, tensor::HostTensor>;

/// Reads the files among the sources, each as the dtype of its declaration. An unknown name is an
/// input Error.
Result<NamedTensors> read_input_files(const kernel::Module& module, const InputSources& sources);

/// Returns one contiguous tensor per buffer; it is empty for buffers that are not read. A file must
/// have the buffer's shape. Inputs without a source become Normal (floats) or Uniform (integers,
/// bool).
Result<std::vector<tensor::HostTensor>> make_inputs(const kernel::Program& program,
                                                    const InputSources& sources,
                                                    const NamedTensors& files, uint64_t seed);

/// The tensor of the graph's input with this name; nullptr if the graph has no such input.
const tensor::HostTensor* input_named(const graph::Graph& graph,
                                      const std::vector<tensor::HostTensor>& inputs,
                                      const std::string& name);

/// A seed from the system's entropy. It fits int64, the type in which seeds are typed and read.
Result<uint64_t> secret_seed();

/// Refuses a program whose buffers do not fit `copies` times into `available` bytes. 0 bytes means
/// unknown and is accepted.
Status check_memory(const kernel::Program& program, uint64_t available, int copies,
                    const std::string& where);

}  // namespace kw::binding
