// Attention in one kernel: a product, pointwise work on its scores, a softmax along their rows and
// a second product. What the kernels on tensor cores and on CUDA cores share: which nodes are
// which, where operands lie, what is done to one score and to one result.
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
  graph::NodeId first = 0, second = 0;  // the products
  graph::NodeId scores = 0;             // what the softmax is taken of
  graph::NodeId shares = 0;             // the second product's left operand
  graph::NodeId largest = 0, total = 0;
  bool empty_is_zero = false;  // a row of nothing but -inf gives 0, not NaN
};

/// Scores that are -inf wherever `test` is `when`, which no product decides.
struct Hidden {
  graph::NodeId below = 0;  // the scores elsewhere
  graph::NodeId test = 0;
  bool when = false;
};

/// Queries, keys or values: a tile of them has rows of `inner` elements.
struct AttentionOperand {
  graph::NodeId node = 0;
  const char* name = "";   // of its tile
  const char* outer = "";  // "mi", "ni"
  const char* inner = "";  // "di", "fi"
  Index index;
  tensor::DType dtype = tensor::DType::Fp32;  // as it is worth keeping: what lies below casts
  bool direct = false;                        // in memory as it is
  bool across = false;                        // neighbours in memory are neighbours along `outer`
  Dim address{0};                             // of its element, where direct
  std::string buffer;
  /// Where packs can be loaded: what must hold so that they are aligned.
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

  /// What the emitter is told before anything is written.
  void prepare(Emitter& e) const;
  std::vector<std::string> batch_variables() const;
  /// The scope of the block's place, with all sizes the kernel is told.
  void open_block(Emitter& e) const;
  /// A block's batch, its first row in steps of kM, and where the keys it wants end. Keys that no
  /// row of the block may see are not even read where they are known to be finite.
  void write_block(Emitter& e, CudaWriter& w, const TargetContext& context) const;
  /// A node's value at the score whose product is `product`. `known`: texts of other nodes.
  Value score(Emitter& e, graph::NodeId node, const std::string& product, int scope,
              const std::map<graph::NodeId, std::string>& known = {}) const;
  std::optional<Hidden> hidden(graph::NodeId node) const;
  /// A node's value at a score, where it is no product's.
  Value beside(Emitter& e, graph::NodeId node) const { return e.value(node, at("mi", "ni")); }
  /// "0.125f" where a node is the score's product times a positive number that all blocks know, ""
  /// where it is the product itself.
  std::optional<std::string> factor(Emitter& e, graph::NodeId node) const;
  /// The node that multiplies the product by such a number.
  std::optional<graph::NodeId> scaled() const;
  /// Stores one result; `value` is what the second product gives.
  bool write_stores(Emitter& e, int scope, const std::string& value,
                    const KeepResult& keep = {}) const;

 private:
  const Shape& shape() const { return region_.node(nodes_.first).shape; }
  graph::NodeId bare(graph::NodeId node) const;
  /// Which input of a node is such a number, the other one being the product.
  std::optional<size_t> fixed_side(graph::NodeId node) const;
  AttentionOperand operand_of(const char* name, graph::NodeId node, const char* outer,
                              const char* inner, bool turned) const;
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
inline int64_t pack_of(tensor::DType dtype) { return dtype == tensor::DType::Fp32 ? 4 : 8; }

/// What must hold so that packs along `inner` are aligned, whatever the emitter's variables are;
/// nothing where they never are.
std::optional<std::vector<std::string>> aligned_packs(const Emitter& e, const Dim& address,
                                                      const std::string& inner, int64_t pack);

/// Adds what must hold so that rows of this length end with a whole pack.
void add_whole_packs(std::vector<std::string>& conditions, const Dim& length, int64_t pack);

/// Nothing where the region is not attention with pointwise work around it.
std::optional<Attention> attention_of(const Region& region);

/// On CUDA cores: right for every shape. Adds its source and launches, guarded by `when`.
void add_plain_attention(KernelBuilder& kernel, const Region& region, const TargetContext& context,
                         const std::string& name);

}  // namespace kw::generate
