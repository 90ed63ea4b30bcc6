// Writes one __global__ function of a row program whose rows lie across memory. Adjacent threads
// have adjacent rows, kVec each, and layers of threads share the columns. A value of a row is an
// array over its kVec adjacent rows. It does not write plan lines.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emit/emit.h"
#include "rows/row_kernel.h"
#include "rows/row_plan.h"

namespace kw::generate {

/// Where later passes read the columns.
enum class Reading : uint8_t {
  Once,   // from registers
  Again,  // from memory
  Parts,  // from memory, each block a part of them; one launch per pass
};

class StackKernel {
 public:
  /// `usage` is from a trial run; without it everything is kept.
  StackKernel(const Region& region, const RowPlan& plan, Reading reading, const PassUsage* usage);
  /// For Parts: writes only this pass, after combining the partial results of earlier passes. The
  /// pass after the last one stores the results.
  void only_pass(size_t pass) { only_ = pass; }

  std::string body();
  Emitter& emitter() { return e_; }
  const Packs& packs() const { return packs_; }
  const PassUsage& seen() const { return cache_.seen(); }
  /// The extent of the axis along which packs lie.
  const Dim& inner_extent() const { return rows_.axes.back().extent; }
  /// Declarations and arguments other than buffers and dims.
  const Parameters& parameters() const { return parameters_; }

 private:
  std::string tune(const char* name) const { return name + region_.suffix; }
  std::string stack() const { return "(" + tune("THREADS") + " / " + tune("WIDTH") + ")"; }
  bool in_registers() const { return reading_ == Reading::Once; }
  bool in_parts() const { return reading_ == Reading::Parts; }
  bool ends_here() const { return !in_parts() || only_ == plan_.passes.size(); }

  void open_row();
  void open_pass();
  /// Writes the statements of the rows' scope so far, as a loop over the rows.
  void flush_rows();
  void write_lanes(CudaWriter& w, const std::string& text);
  void write_columns(CudaWriter& w, const std::function<void()>& inside);
  void write_pass(const std::string& text, const std::vector<std::string>& before,
                  const std::vector<std::string>& behind);
  std::string first_loads();
  bool has_column(const Dim& address) const;
  std::optional<Value> load(const Buffer& buffer, const Dim& address);
  std::optional<Value> node(NodeId id, const Index& index);
  std::string start_total(NodeId id);
  void reduction_pass(const std::vector<NodeId>& reductions);
  /// Squares about the thread's mean so far, then about the mean of all threads.
  void write_centred_step(NodeId id);
  void centre(NodeId id);
  void join_parts(NodeId id);
  void join_squares(NodeId id, const std::string& name);
  void finish(NodeId id, const std::string& name);
  std::string slots_for(const char* type);
  std::string partials_of(NodeId id, bool written) {
    return partials_parameter(region_, id, written, parameters_);
  }
  /// Fills a pack in a loop over the rows, or writes single stores; `behind` stores the pack.
  void write_store(const Store& store, std::vector<std::string>& before,
                   std::vector<std::string>& behind);
  void row_stores();
  void store_pass();
  void write_head(CudaWriter& w);

  const Region& region_;
  const RowPlan& plan_;
  Reading reading_;
  Emitter e_;
  RegisterCache cache_;
  Joined rows_, columns_;
  std::string inner_;
  Packs packs_;
  std::map<std::string, Dim> plain_;  // variables by axes, without lanes
  int row_scope_ = 0, lane_scope_ = 0, element_scope_ = 0;
  size_t pass_ = 0, only_ = 0;
  std::set<std::string> in_pass_;     // packs loaded inside the pass
  std::map<std::string, int> slots_;  // number used so far, by type
  std::vector<std::string> shared_;
  std::map<NodeId, std::string> results_;
  std::map<NodeId, std::string> totals_;  // names of partial results of reductions
  std::string count_;                     // number of elements the thread has read
  std::map<NodeId, std::string> means_;   // their means, by the sum of squares they are for
  Parameters parameters_;
};

}  // namespace kw::generate
