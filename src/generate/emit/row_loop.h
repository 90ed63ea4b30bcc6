// The elements of a tensor as rows along one dim, for scans, sorts and arg reductions. All other
// dims, joined as far as the accesses allow, number the rows. It knows indices, not kernels.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "emit/domain.h"
#include "emit/emitter.h"

namespace kw::generate {

class RowLoop {
 public:
  /// Rows of `shape` along `axis`. `values` are computed at every element. The schedule itself
  /// supplies the nodes of `hooked`, whose values already exist. If a row has other numbers of
  /// results than elements, `results` is their shape, and the stores are computed from them.
  RowLoop(const Region& region, const Shape& shape, size_t axis, const std::vector<NodeId>& values,
          const std::set<NodeId>& hooked, const Shape& results = {});

  /// The element's index: a variable per dim.
  const Index& index() const { return domain_.index; }
  /// The same with another index along the axis.
  Index index_at(const Dim& along) const;
  /// Variables that are constant in a row.
  std::vector<std::string> row_variables() const;
  /// The axis' variable; "" if its extent is always 1.
  const std::string& along() const { return along_; }
  /// Variables of one element: `counter`, and the axis' variable.
  std::vector<std::string> element_variables(const std::string& counter) const;
  const Dim& length() const { return domain_.shape[axis_]; }
  Dim rows() const { return count_of(rows_.axes); }
  Ranges ranges() const { return ranges_of(domain_); }
  /// Replacements for the variables: those of the row by `row`, the axis' by `column`.
  std::map<std::string, Dim> rename(const Dim& column) const;
  /// Writes the row's parts, computed from `row`, if there are several.
  void write_row(Emitter& e, CudaWriter& w) const;
  /// Whether adjacent rows are adjacent in memory: the axis is not the last dim.
  bool rows_are_adjacent() const;

 private:
  Domain domain_;
  size_t axis_;
  std::string along_;
  Joined rows_;
};

/// The elements of a tensor as rows along several dims at once, for reductions over the first or
/// middle ones. `row` numbers the kept elements, `column` the reduced ones.
class ReducedLoop {
 public:
  ReducedLoop(const Region& region, const Shape& shape, const std::vector<int>& dims,
              const std::vector<NodeId>& values, const std::set<NodeId>& hooked = {});

  const Index& index() const { return domain_.index; }
  /// The index of a result: 0 along the reduced dims.
  Index result_index() const;
  Shape result_shape() const;
  Dim rows() const { return count_of(kept_.axes); }
  Dim columns() const { return count_of(reduced_.axes); }
  /// The axis along which adjacent rows lie: "row", or "minor" if rows have parts.
  const std::string& inner() const { return kept_.axes.back().name; }
  const Dim& inner_extent() const { return kept_.axes.back().extent; }
  /// The names of all axes, which are known before any load.
  std::vector<std::string> axes() const;
  /// The domain's variables in three sets: those of the inner axis, the other kept ones, the
  /// reduced ones.
  std::vector<std::string> inner_variables() const;
  std::vector<std::string> outer_variables() const;
  std::vector<std::string> column_variables() const;
  Ranges ranges() const { return ranges_of(domain_); }
  /// Replacements for all variables; `lane` is added to the inner axis.
  std::map<std::string, Dim> rename(const Dim& lane) const;
  void write_row(Emitter& e, CudaWriter& w) const;
  void write_column(Emitter& e, CudaWriter& w) const;

 private:
  Domain domain_;
  std::vector<int> dims_;
  Joined kept_, reduced_;
};

/// Whether every store is computed element by element from the values of `roots`, all of one shape.
bool stores_follow(const Region& region, const std::set<NodeId>& roots, const Shape& shape);

/// Whether `node` or a node it is computed from is one of these.
bool depends_on(const Region& region, NodeId node, const std::set<NodeId>& roots);

/// A name for scratch of the region's kernel that no tensor has.
std::string scratch_name(const Region& region, const std::string& what);

bool same_shape(const Shape& a, const Shape& b);

/// Computes the axes from `left`, the number of the whole, innermost first.
void write_axes(const std::vector<Axis>& axes, std::string left, Emitter& e, CudaWriter& w);
/// The same for several axes; writes no code for a single one, which is the whole.
void write_parts(const std::vector<Axis>& axes, const std::string& whole, Emitter& e,
                 CudaWriter& w);

}  // namespace kw::generate
