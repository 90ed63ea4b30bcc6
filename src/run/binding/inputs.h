// What a program reads, made from what the user said: .npy files, or seeded families for everything
// else.
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

/// Where one input comes from: a file, or a family with its seed.
struct InputSource {
  std::string file;  // "" = seeded
  tensor::Family family = tensor::Family::Normal;
  std::optional<uint64_t> seed;  // none: derived from the run's seed and the input's position
  std::optional<tensor::IntegerRange> range;
};

/// "x.npy", "normal", "uniform:7", "uniform:7:0..99". Input Error with the list of families.
Result<InputSource> parse_input_source(const std::string& text);

using InputSources = std::map<std::string, InputSource>;
using NamedTensors = std::map<std::string, tensor::HostTensor>;

/// Reads the files among the sources, each as the dtype its declaration asks for. Unknown names are
/// input Errors.
Result<NamedTensors> read_input_files(const kernel::Module& module, const InputSources& sources);

/// One tensor per buffer, contiguous; empty for buffers that are not read. Files must have
/// the buffer's shape. `sources` may leave inputs out: they become Normal (floats) or Uniform
/// (integers, bool).
Result<std::vector<tensor::HostTensor>> make_inputs(const kernel::Program& program,
                                                    const InputSources& sources,
                                                    const NamedTensors& files, uint64_t seed);

/// The tensor of a graph's input; nullptr where it has none of that name.
const tensor::HostTensor* input_named(const graph::Graph& graph,
                                      const std::vector<tensor::HostTensor>& inputs,
                                      const std::string& name);

/// Of the system's entropy; fits int64, as which seeds are typed and read.
Result<uint64_t> secret_seed();

/// Refuses a program whose buffers cannot fit `copies` times into `available` bytes (0: unknown,
/// accepts).
Status check_memory(const kernel::Program& program, uint64_t available, int copies,
                    const std::string& where);

}  // namespace kw::binding
