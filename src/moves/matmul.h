// Matrix products: what the kernels on CUDA cores and on tensor cores share. One product per
// region, with whatever is done element by element to its operands and its result.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "moves/words.h"

namespace kw::moves {

/// An operand's tile in shared memory: `outer` rows of `inner` neighbouring elements.
struct ProductOperand {
  graph::NodeId node = 0;
  bool left = true;       // [m, k], else [k, n]
  bool along_k = true;    // neighbours in memory are neighbours along k
  bool direct = false;    // in memory as it is: packs can be loaded
  Dim address{0};         // of its element, where direct
  const char* tile = "";  // "left", "right"

  const char* outer() const { return along_k ? (left ? "mi" : "ni") : "ki"; }
  const char* inner() const { return along_k ? "ki" : (left ? "mi" : "ni"); }
};

class Product {
 public:
  /// The region's product; see product_of.
  Product(const Region& region, graph::NodeId node);

  const graph::Node& node() const { return region_.node(id_); }
  graph::NodeId id() const { return id_; }
  Dim batches() const;
  const Dim& m() const { return node().shape[node().shape.size() - 2]; }
  const Dim& n() const { return node().shape.back(); }
  const Dim& k() const { return region_.node(node().inputs[0]).shape.back(); }
  /// Indices over `batch`, `mi`, `ni`, `ki`.
  Index left_index() const { return at("mi", "ki"); }
  Index right_index() const { return at("ki", "ni"); }
  Index index() const { return at("mi", "ni"); }
  Ranges ranges() const;
  /// Operands behind casts that lose nothing; `strip`: also those to fp32.
  ProductOperand operand(bool left, bool strip) const;

  /// Writes the stores of one element, `value` being the product there. False where a store is not
  /// computed from the product's element at its own place.
  bool write_stores(Emitter& e, int scope, const std::string& value) const;

 private:
  Index at(const char* row, const char* column) const;

  const Region& region_;
  graph::NodeId id_;
};

/// Nothing where the region is not one product with pointwise work around it.
std::optional<Product> product_of(const Region& region);

}  // namespace kw::moves
