// Runs a candidate at one shape with given inputs and judges it against given truths. It reports
// the result; the gate derives the verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "gate/pool.h"
#include "gate/programs.h"
#include "metric/metric.h"
#include "ports/device.h"
#include "record/verdict.h"

namespace kw::gate {

enum class CellResult : uint8_t {
  Right,       // every output within its bound
  WrongValue,  // `reason` and `summary` give details
  Found,       // a certain finding: `finding`
  Crash,       // fault, hang, or lost worker
  Refused,     // the device refuses a launch or an image
  NotServed,   // outside the module's domain
  NotCompiled,
  NoEvidence,  // no result: unknown instruction, no memory, too slow
};

struct Judged {
  CellResult result = CellResult::Right;
  std::string reason;
  record::ErrorSummary summary;
  std::optional<record::Finding> finding;
  std::vector<record::Finding> warnings;
  std::vector<std::string> lint;
  int64_t telling = 0;                      // number of elements at which zeros would fail
  std::vector<tensor::HostTensor> outputs;  // parallel to the graph's; only of runs without truths
  std::vector<uint64_t> hashes;             // real GPU: per buffer of the program
  KnownBits::Bits bits;                     // the same, per output of the graph
  std::optional<ports::CompileFailed> compile_failed;
  bool unknown_instruction = false;  // NoEvidence: the virtual GPU lacks an instruction
  bool too_slow = false;             // NoEvidence: the run exceeded the time limit
  double seconds = 0;                // duration of the run on the device
  int group = -1;                    // the launch group that the device ran; -1: it ran none
  ports::ImageId image = 0;          // the code that it ran

  bool failed() const {
    return result == CellResult::WrongValue || result == CellResult::Found ||
           result == CellResult::Crash || result == CellResult::Refused ||
           result == CellResult::NotCompiled;
  }
};

/// Runs candidates on one device with given options.
struct CellRunner {
  Programs& programs;
  const shapes::Matching& matching;
  const task::Task& task;
  ports::RunOptions options;

  /// `inputs` and `truths` belong to the graph of `shape`. Without truths the outputs are only
  /// collected, if they are copied out. `hashes` of the inputs may be empty.
  Result<Judged> run(const shapes::ShapeCase& shape, const std::vector<tensor::HostTensor>& inputs,
                     const std::vector<ports::Truth>& truths,
                     const std::vector<uint64_t>& hashes = {}, KnownBits* known = nullptr) const;
  /// The same for a set of the pool; the options must have the pool's hash seed. Outputs with known
  /// right bits are not copied out again.
  Result<Judged> run(const shapes::ShapeCase& shape, const PoolSet& set) const;

 private:
  Result<std::optional<Judged>> run_known(const shapes::ShapeCase& shape, const PoolSet& set) const;
};

/// Reorders hashes per buffer into the order of the graph's outputs; empty when there are none.
KnownBits::Bits bits_of(const shapes::Matching& matching, const std::vector<uint64_t>& hashes,
                        size_t outputs);
/// Hashes outputs that were copied out.
KnownBits::Bits bits_of(const std::vector<tensor::HostTensor>& outputs, uint64_t hash_seed);

/// Returns whether the graph's output only rearranges inputs and constants.
bool moves_only(const graph::Graph& graph, graph::NodeId output);

}  // namespace kw::gate
