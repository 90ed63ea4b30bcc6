// The state of one reading of host code, shared by the readers of names, expressions, calls,
// launches and statements. Internal.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda_import/host_code_reader.h"

namespace kw::cuda_import {

/// The statement to read after one statement.
enum class Flow : uint8_t { Next, Break, Continue, Return };

/// Tokens of the code that is being read.
struct TokenRange {
  size_t first = 0, last = 0;
};

/// A variable.
struct Slot {
  HostValue value;
  std::string name;
  CType type;
};

using Scope = std::map<std::string, size_t>;

struct HostState {
  HostState(const HostSource& file, std::vector<bool> decisions);

  void problem(const cuda_source::Token& where, std::string message, std::string hint = "");
  void problem(const HostValue& unknown, const std::string& what, const cuda_source::Token& where);
  const std::vector<cuda_source::Token>& tokens() const { return codes[code]; }
  const cuda_source::Token& token(size_t place) const;
  const cuda_source::Token& here() const { return token(at); }
  bool next_is(std::string_view text) const { return at < end && here().is(text); }
  bool take(std::string_view text);
  /// The place behind the bracket that closes the one at `open`.
  size_t behind(size_t open) const { return cuda_source::behind_bracket(tokens(), open, end); }
  std::vector<TokenRange> split(TokenRange range, std::string_view separator = ",") const;
  /// The number of these tokens of the file, with their macros expanded.
  size_t code_of(size_t first, size_t last);
  size_t declare(const std::string& name, const CType& type, HostValue value);
  void assign(size_t slot, int member, HostValue value, const cuda_source::Token& where);
  HostValue target_of(const HostValue& address) const;
  /// The value of a variable, with its place.
  HostValue value_of(size_t slot) const;
  const Item* find_item(const std::string& name, Item::Kind kind) const;
  bool decide(const HostValue& value, const cuda_source::Token& where);

  const HostSource& source;
  HostCodeResult out;
  std::deque<std::vector<cuda_source::Token>> codes;
  std::map<std::pair<size_t, size_t>, size_t> code_numbers;
  size_t code = 0, at = 0, end = 0;
  std::deque<Slot> slots;
  std::vector<Scope> scopes;
  size_t frame = 1;  // first scope of the running function; 0 is the file's
  TypeNames types;
  std::map<std::string, HostValue> enumerators;
  std::set<std::string> enumerator_names;
  std::set<std::string> evaluating;
  HostValue result;
  size_t steps = 0, taken = 0;
  int depth = 0, calls = 0, repeat = -1;
  bool broken = false;
  size_t changed = HostValue::kNoSlot;  // first of the slots that were assigned to
  std::vector<TermRef> assumptions;     // hold in the branch that is being read
  int tries = 0;                        // 'try' blocks around
  size_t copied = 0;     // slots before this one may have been copied by a lambda
};

}  // namespace kw::cuda_import
