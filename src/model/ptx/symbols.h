// The meaning of a name at one place of a PTX text: nested scopes of registers, variables and
// labels.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/ptx_module.h"

namespace kw::ptx {

/// The declaration of a name.
struct Symbol {
  enum class Kind : uint8_t { Register, BodyVariable, ModuleVariable, Param, Result, Function };
  Kind kind = Kind::Register;
  int index = -1;  // of the register or variable; -1: a declared register not used yet
  Type type = Type::None;
};

/// The names of one function body. Scopes are kept after they close, because labels are resolved at
/// the end.
class BodyScopes {
 public:
  /// `registers` receives each declared register when it is first used.
  explicit BodyScopes(std::vector<Register>& registers) : registers_(registers) { open(); }

  void open();
  void close() { current_ = scopes_[current_].parent; }
  int depth() const { return scopes_[current_].depth; }
  int current() const { return current_; }
  size_t count() const { return scopes_.size(); }

  /// False when the name is already declared in the same scope.
  bool declare(std::string_view name, const Symbol& symbol);
  /// `%r<count>`: declares prefix0 … prefix(count-1).
  bool declare_range(std::string_view prefix, int64_t count, Type type);
  bool declare_label(std::string_view name, int label);

  /// The innermost declaration, or nullptr. A register gets its index here.
  const Symbol* find(std::string_view name);
  /// The label as seen from `scope`, or -1.
  int find_label(std::string_view name, int scope) const;

 private:
  struct Range {
    int64_t count = 0;
    Type type = Type::None;
  };
  struct Scope {
    int parent = -1;
    int depth = 0;
    std::unordered_map<std::string_view, Symbol> names;
    std::unordered_map<std::string_view, Range> ranges;
    std::unordered_map<std::string_view, int> labels;
  };
  Symbol* find_in_range(Scope& scope, std::string_view name);

  std::vector<Register>& registers_;
  std::vector<Scope> scopes_;
  int current_ = -1;
};

}  // namespace kw::ptx
