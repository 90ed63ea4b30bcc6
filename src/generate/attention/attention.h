// Attention in one kernel: a product, pointwise work on its scores, a softmax along their rows and
// a second product. This is the part that kernels on tensor cores and on CUDA cores share: the
// roles of nodes, the addresses of operands, the work on one score and on one result.
//
// A score's row is `mi` and its key `ni`; `di` runs along queries and keys, `fi` along values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "attention/causal.h"
#include "emit/emit.h"
#include "matmul/matmul.h"

namespace kw::generate {

struct AttentionNodes {
  NodeId first = 0, second = 0;  // the products
  NodeId scores = 0;             // the input of the softmax
  NodeId shares = 0;             // the second product's left operand
  NodeId largest = 0, total = 0;
  bool empty_is_zero = false;  // a row with only -inf gives 0, not NaN
};

/// Scores that are -inf if `test` is `when`; `test` does not depend on a product.
struct MaskedScores {
  NodeId below = 0;  // the other scores
  NodeId test = 0;
  bool when = false;
};

/// Queries, keys or values: a tile of them has rows of `inner` elements.
struct AttentionOperand : DirectRead {
  NodeId node = 0;
  const char* name = "";   // name of its tile
  const char* outer = "";  // "mi", "ni"
  const char* inner = "";  // "di", "fi"
  Index index;
  DType dtype = DType::Fp32;  // the dtype to keep: that below casts
  bool across = false;        // adjacent in memory: adjacent along `outer`
  /// The conditions under which packs are aligned; empty if packs cannot be loaded.
  std::optional<std::vector<std::string>> aligned;
};

class Attention {
 public:
  Attention(const Region& region, const AttentionNodes& nodes);

  const AttentionNodes& nodes() const { return nodes_; }
  const Dim& rows() const { return shape()[shape().size() - 2]; }
  const Dim& keys() const { return shape().back(); }
  const Dim& depth() const {
    return region_.node(region_.node(nodes_.first).inputs[0]).shape.back();
  }
  const Dim& width() const { return region_.node(nodes_.second).shape.back(); }
  Dim batches() const { return graph::count_of(batch_.shape); }
  const AttentionOperand& query() const { return operands_[0]; }
  const AttentionOperand& key() const { return operands_[1]; }
  const AttentionOperand& value() const { return operands_[2]; }
  const std::optional<Causal>& causal() const { return causal_; }
  /// Whether scores and results are computed element by element from the products.
  bool fits() const { return fits_; }

  /// Sets up the emitter before any code is written.
  void prepare(Emitter& e) const;
  std::vector<std::string> batch_variables() const;
  /// Opens the scope of the block's position, with all sizes that the kernel gets.
  void open_block(Emitter& e) const;
  /// Writes a block's batch, its first row in steps of kM, and the end of the keys it needs. Keys
  /// that no row of the block may see are not read if they are known to be finite.
  void write_block(Emitter& e, CudaWriter& w, const TargetContext& context) const;
  /// A node's value at the score whose product is `product`. `known` are the texts of other nodes.
  Value score(Emitter& e, NodeId node, const std::string& product, int scope,
              const std::map<NodeId, std::string>& known = {}) const;
  std::optional<MaskedScores> hidden(NodeId node) const;
  /// A node's value at a score, if it does not depend on a product.
  Value beside(Emitter& e, NodeId node) const { return e.value(node, at("mi", "ni")); }
  /// "0.125f" if a node is the score's product times a positive number that all blocks know; "" if
  /// it is the product itself. Otherwise empty.
  std::optional<std::string> factor(Emitter& e, NodeId node) const;
  /// The node that multiplies the product by such a number.
  std::optional<NodeId> scaled() const;
  /// Stores one result; `value` is the result of the second product.
  bool write_stores(Emitter& e, int scope, const std::string& value,
                    const KeepResult& keep = {}) const;

 private:
  const Shape& shape() const { return region_.node(nodes_.first).shape; }
  NodeId bare(NodeId node) const;
  /// The input of a node that is such a number, if the other one is the product.
  std::optional<size_t> fixed_side(NodeId node) const;
  AttentionOperand operand_of(const char* name, NodeId node, const char* outer, const char* inner,
                              bool turned) const;
  void look_at(AttentionOperand& operand, std::vector<Dim>& used) const;
  Index at(const char* row, const char* column) const;

  const Region& region_;
  AttentionNodes nodes_;
  Domain batch_;
  Joined axes_;
  Ranges ranges_;
  std::vector<AttentionOperand> operands_;
  std::optional<Causal> causal_;
  bool fits_ = true;
};

/// Elements in 16 bytes.
inline int64_t pack_of(DType dtype) { return dtype == DType::Fp32 ? 4 : 8; }

/// The conditions under which packs along `inner` are aligned for all values of the emitter's
/// variables; empty if they never are.
std::optional<std::vector<std::string>> aligned_packs(const Emitter& e, const Dim& address,
                                                      const std::string& inner, int64_t pack);

/// Adds the conditions under which rows of this length end with a whole pack.
void add_whole_packs(std::vector<std::string>& conditions, const Dim& length, int64_t pack);

/// Empty if the region is not attention with pointwise work around it.
std::optional<Attention> attention_of(const Region& region);

/// On CUDA cores: correct for every shape. Adds its source and launches after those the kernel has.
void add_plain_attention(KernelBuilder& kernel, const Region& region, const TargetContext& context,
                         const std::string& name);

}  // namespace kw::generate
