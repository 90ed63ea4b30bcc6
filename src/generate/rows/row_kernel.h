// Writes one __global__ function of a row program: its passes over the row, for the threads that
// share it. It does not write plan lines.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emit/emit.h"
#include "rows/register_cache.h"
#include "rows/row_plan.h"
#include "rows/team_loops.h"

namespace kw::generate {

/// The name of the scratch for a reduction's partial results, one per part of a row.
std::string partials_name(const Region& region, NodeId reduction);
/// The same as a parameter of a kernel, added to `parameters` if it is not one of them.
std::string partials_parameter(const Region& region, NodeId reduction, bool written,
                               Parameters& parameters);

class RowKernel {
 public:
  /// `registers`: the row is read once and kept, otherwise every pass reads it. `usage` is from a
  /// trial run; without it everything is kept.
  RowKernel(const Region& region, const RowPlan& plan, Team team, bool registers,
            const PassUsage* usage);
  /// For a split row: writes only this pass, after combining the partial results of earlier passes.
  /// The pass after the last one stores the results.
  void only_pass(size_t pass) { team_.only = pass; }

  /// Keeps packs that several passes read in shared memory; needs usage.
  void keep_in_shared() { shares_ = true; }

  /// Lanes take several rows, with all their loads in flight; needs registers.
  void take_turns() { team_.turns = true; }

  std::string body();
  /// The buffers whose rows are in shared memory; valid after body().
  std::vector<Buffer> shared_rows() const;
  Emitter& emitter() { return e_; }
  const Packs& packs() const { return packs_; }
  const PassUsage& seen() const { return cache_.seen(); }
  const std::vector<Axis>& columns() const { return team_.columns.axes; }
  /// Declarations and arguments other than buffers and dims.
  const Parameters& parameters() const { return parameters_; }

 private:
  void open_row();
  void open_pass(bool guarded);
  std::string first_loads();
  void write_shared_rows(CudaWriter& w);
  /// Whether no other row reads this address.
  bool is_of_row(const Dim& address) const;
  bool is_shared(const Dim& address) const;
  std::optional<Value> load(const Buffer& buffer, const Dim& address);
  std::optional<Value> node(NodeId id, const Index& index);
  void reduction_pass(const std::vector<NodeId>& reductions);
  std::string start_total(NodeId id);
  void write_step(NodeId id);
  std::string online_steps(const std::vector<NodeId>& reductions);
  void rescale(NodeId id);
  std::string centred_steps(const std::vector<NodeId>& reductions);
  void centre(NodeId id);
  bool waits(NodeId id) const {
    return plan_.rescaled.count(id) > 0 || plan_.centred.count(id) > 0;
  }
  void write_pass_body(CudaWriter& w, const std::string& packs, const std::string& lanes,
                       const std::vector<std::string>& before_lanes,
                       const std::vector<std::string>& behind_lanes);
  void join_parts(NodeId id);
  void finish(NodeId id, const std::string& name);
  void row_stores();
  void store_pass();
  std::string partials_of(NodeId id, bool written) {
    return partials_parameter(region_, id, written, parameters_);
  }

  const Region& region_;
  const RowPlan& plan_;
  bool registers_;
  Emitter e_;
  TeamLoops team_;
  RegisterCache cache_;
  std::string inner_;
  Packs packs_;
  std::map<std::string, Dim> plain_;  // variables by axes, without lanes
  int row_scope_ = 0, pack_scope_ = 0, lane_scope_ = 0;
  size_t pass_ = 0;
  std::set<std::string> in_pass_;  // packs loaded inside the pass
  std::vector<std::string> shared_;
  std::map<NodeId, Value> results_;
  std::map<NodeId, std::string> totals_;  // names of partial results of reductions
  std::map<NodeId, std::string> bases_;   // the shift of sums of exponentials, by their max
  /// For the elements that a thread has read: their number, their mean, and the sum of the current
  /// pack.
  struct Means {
    std::string count, mean, pack;
  };
  std::map<NodeId, Means> means_;  // by the sum they are computed from
  bool shares_ = false;
  Parameters parameters_;
};

/// The variables that a pack's address may have.
std::vector<std::string> axis_names(const Joined& rows, const Joined& columns);

/// "row_sum += x;": adds one element to a reduction with partial type `type`.
std::string joined_text(Op op, const std::string& name, const Value& x, const char* type);

}  // namespace kw::generate
