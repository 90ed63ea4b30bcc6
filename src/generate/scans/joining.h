// Device code that combines two adjacent pieces of a row: the state that scans and arg reductions
// carry from element to element. A state is a plain value, or a value with its position.
#pragma once

#include <set>
#include <string>

#include "text/graph_names.h"
#include "text/writer.h"

namespace kw::generate {

class Joining {
 public:
  enum class Kind : uint8_t { Sum, Product, Max, Min, LogSum };
  enum class Lanes : uint8_t { One, Many };           // whether states move between lanes
  enum class Places : uint8_t { None, First, Last };  // which of equal elements is taken

  /// `prefix` starts the names of the device functions.
  Joining(std::string prefix, DType dtype, Kind kind, Places places)
      : prefix_(std::move(prefix)), dtype_(dtype), kind_(kind), places_(places) {}

  /// "float" or "cummax_best<Index>".
  std::string type() const;
  DType dtype() const { return dtype_; }
  bool has_place() const { return places_ != Places::None; }
  /// The state of no element.
  std::string identity() const;
  /// The state of one element.
  std::string of(const std::string& value, const std::string& place) const;
  std::string value(const std::string& state) const;
  std::string place(const std::string& state) const;
  std::string join(const std::string& before, const std::string& now) const;
  /// The same for one element that comes after all of `best`; cheaper than a join.
  std::string step(const std::string& best, const std::string& value,
                   const std::string& place) const;
  /// The state of the lane `by` lanes below, of the lane across (xor), or of one given lane.
  std::string from_below(const std::string& state, const std::string& by, const std::string& mask,
                         const std::string& width) const;
  /// The combined state of all lanes up to the own one.
  std::string upto(const std::string& state, const std::string& lane, const std::string& mask,
                   const std::string& width) const;
  /// The combined state of all lanes of a warp, in every lane; for states that prefer the first of
  /// equals.
  std::string of_warp(const std::string& state, const std::string& width) const;
  std::string from_beside(const std::string& state, const std::string& by) const;
  std::string from_lane(const std::string& state, const std::string& lane, const std::string& mask,
                        const std::string& width) const;
  /// Device code of all these functions; adds the helpers it calls to `functions`.
  std::string definitions(std::set<std::string>& functions, Lanes lanes = Lanes::Many) const;

 private:
  std::string compare(std::set<std::string>& functions) const;
  void write_function(CudaWriter& w, const std::string& head, const std::string& body) const;
  void write_shuffle(CudaWriter& w, const char* name, const char* parameters,
                     const char* call) const;
  void write_state(CudaWriter& w) const;
  void write_of_warp(CudaWriter& w) const;
  void write_upto(CudaWriter& w) const;

  std::string prefix_;
  DType dtype_;
  Kind kind_;
  Places places_;
};

}  // namespace kw::generate
