// One run of a candidate at one shape with given inputs, judged against given truths. Says what
// came of it; what that means for the verdict is the gate's business.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "gate/metric.h"
#include "gate/pool.h"
#include "gate/programs.h"
#include "ports/device.h"
#include "record/verdict.h"

namespace kw::gate {

enum class Came : uint8_t {
  Right,       // every output within its bound
  WrongValue,  // `reason` and the summary say where
  Found,       // a certain finding: `finding`
  Crash,       // fault, hang, lost worker
  Refused,     // a launch the device does not accept, or an image it does not take
  NotServed,   // outside the module's domain
  NotCompiled,
  NoEvidence,  // the device cannot tell: unknown instruction, no memory, too slow
};

struct Judged {
  Came came = Came::Right;
  std::string reason;
  record::ErrorSummary summary;
  std::optional<record::Finding> finding;
  std::vector<record::Finding> warnings;
  std::vector<std::string> lint;
  int64_t telling = 0;                      // elements at which zeros would fail
  std::vector<tensor::HostTensor> outputs;  // parallel to the graph's, of runs without truths
  std::vector<uint64_t> hashes;             // real GPU: of what the program returns
  KnownBits::Bits bits;                     // the same per output of the graph
  std::optional<ports::CompileFailed> compile_failed;
  bool unknown_instruction = false;  // NoEvidence, because the virtual GPU lacks one
  bool too_slow = false;             // NoEvidence, because the time limit came first
  double seconds = 0;                // of the run on the device

  bool failed() const {
    return came == Came::WrongValue || came == Came::Found || came == Came::Crash ||
           came == Came::Refused || came == Came::NotCompiled;
  }
};

/// Where and how candidates are run.
struct CellRunner {
  Programs& programs;
  const Matching& matching;
  const task::Task& task;
  ports::RunOptions options;

  /// `inputs` and `truths` belong to the graph of `shape`; without truths the outputs are only
  /// collected, if they are copied out at all. `hashes` of the inputs may be empty.
  Result<Judged> run(const ShapeCase& shape, const std::vector<tensor::HostTensor>& inputs,
                     const std::vector<ports::Truth>& truths,
                     const std::vector<uint64_t>& hashes = {}, KnownBits* known = nullptr) const;
  /// The same for a set of the pool whose hash seed the options carry. Bits that were judged right
  /// before are not copied out again.
  Result<Judged> run(const ShapeCase& shape, const PoolSet& set) const;

 private:
  Result<std::optional<Judged>> run_known(const ShapeCase& shape, const PoolSet& set) const;
};

/// Hashes per buffer of a program in the order of the graph's outputs; empty when there are none.
KnownBits::Bits bits_of(const Matching& matching, const std::vector<uint64_t>& hashes,
                        size_t outputs);
/// The same of outputs that were copied out.
KnownBits::Bits bits_of(const std::vector<tensor::HostTensor>& outputs, uint64_t hash_seed);

/// Whether the graph's output is a rearrangement of inputs and constants.
bool moves_only(const graph::Graph& graph, graph::NodeId output);

}  // namespace kw::gate
