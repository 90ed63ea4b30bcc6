// A kernel's body walked once with intervals for what its names can be. Follows declarations,
// loops, guards and early returns; whatever else is assigned becomes unknown. Internal to
// suspicion.h.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_source/source_lexer.h"
#include "review/interval.h"

namespace kw::review {

struct WalkToken {
  std::string text;  // operators of several characters are one
  int line = 0;
  cuda_source::SourceKind kind = cuda_source::SourceKind::Punctuator;
  size_t partner = 0;  // of an opening bracket: closing()
};
/// Without directives.
std::vector<WalkToken> walk_tokens(std::string_view source);

/// Index of the bracket that closes the one at `open`; the size when there is none.
size_t closing(const std::vector<WalkToken>& tokens, size_t open);
/// "f<a, b>(" at i: index of the '>'. i when that is no template's name.
size_t behind_template(const std::vector<WalkToken>& tokens, size_t i);

/// What is known at one place.
struct WalkScope {
  std::map<std::string, Interval> names;    // parameters, macros, locals, "threadIdx.x"
  std::map<std::string, Interval> extents;  // elements of pointers, of arrays' first dimension
};

/// Values of expressions, and what conditions say about names. A range is [begin, end). Nothing is
/// claimed about expressions of more than a few hundred tokens.
class Reckoner {
 public:
  explicit Reckoner(const std::vector<WalkToken>& tokens) : tokens_(tokens) {}

  Interval value(const WalkScope& scope, size_t begin, size_t end) const;
  Truth truth(const WalkScope& scope, size_t begin, size_t end) const;
  /// Narrows the scope to where the condition holds, or does not.
  void assume(WalkScope& scope, size_t begin, size_t end, bool holds) const;

 private:
  Interval operand(const WalkScope& scope, size_t begin, size_t end) const;
  Interval call(const WalkScope& scope, size_t begin, size_t end) const;
  std::string name_in(size_t begin, size_t end) const;
  void compare_names(WalkScope& scope, size_t begin, size_t sign, size_t end, bool holds) const;
  /// The last operator of these outside of brackets, or `end`.
  size_t last_of(size_t begin, size_t end, const std::set<std::string>& signs) const;
  const std::string& at(size_t i) const { return tokens_[i].text; }

  const std::vector<WalkToken>& tokens_;
};

struct WalkFinding {
  int line = 0;
  std::string what;
};

class Walk {
 public:
  Walk(const std::vector<WalkToken>& tokens, WalkScope scope)
      : tokens_(tokens), reckoner_(tokens), scope_(std::move(scope)) {}

  /// The statements of [begin, end).
  void statements(size_t begin, size_t end);

  const std::vector<WalkFinding>& findings() const { return findings_; }
  /// Of static shared arrays whose extents are known.
  int64_t shared_bytes() const { return shared_bytes_; }

 private:
  const std::string& at(size_t i) const { return tokens_[i].text; }
  size_t statement_end(size_t i) const;
  /// Index behind it, at most the size.
  size_t statement(size_t i);
  size_t any_statement(size_t i);
  size_t if_statement(size_t i);
  size_t for_statement(size_t i);
  size_t while_statement(size_t i);
  void declare_array(size_t begin, size_t end, bool shared);
  void declare_or_assign(size_t begin, size_t end);
  bool leaves(size_t begin, size_t end) const;
  void forget_assigned(size_t begin, size_t end);
  void look_at_accesses(size_t begin, size_t end);
  void check_index(const std::string& name, const Interval& index, int line);

  const std::vector<WalkToken>& tokens_;
  const Reckoner reckoner_;
  WalkScope scope_;
  int64_t shared_bytes_ = 0;
  std::vector<WalkFinding> findings_;
  int depth_ = 0;  // of statements within statements
};

}  // namespace kw::review
