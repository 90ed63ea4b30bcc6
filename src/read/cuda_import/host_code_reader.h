// Interprets a launcher's host code with symbols for its parameters, and records its launches. One
// run follows one path; the caller sets the decisions for conditions on the shape. Code that cannot
// be interpreted is a problem with its place; running never fails. Internal.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cuda_import/recorded.h"
#include "cuda_import/source.h"
#include "cuda_import/value.h"
#include "cuda_source/diagnostics.h"

namespace kw::cuda_import {

struct Followed {
  Path path;
  std::vector<bool> decisions;  // all decisions taken, with those the caller set
  std::vector<cuda_source::Diagnostic> problems;
  std::set<std::string> written, used;  // tensors that kernels may write; that they get at all
  std::vector<std::string> notes;
};

class HostCodeReader {
 public:
  HostCodeReader(const HostSource& source, std::vector<bool> decisions);

  /// `arguments` are parallel to the launcher's parameters.
  Followed run(const Item& launcher, const std::vector<HostValue>& arguments);

 private:
  enum class Flow : uint8_t { Next, Break, Continue, Return };
  struct Range {
    size_t first = 0, last = 0;
  };
  struct Slot {
    HostValue value;
    std::string name;
    CType type;
  };
  using Scope = std::map<std::string, size_t>;

  // follow.cpp: names, scopes and problems
  void problem(const cuda_source::Token& where, std::string message, std::string hint = "");
  void problem(const HostValue& unknown, const std::string& what, const cuda_source::Token& where);
  const cuda_source::Token& token(size_t at) const;
  bool next_is(std::string_view text) const { return at_ < end_ && token(at_).is(text); }
  bool take(std::string_view text);
  size_t find_variable(const std::string& name);
  size_t declare(const std::string& name, const CType& type, HostValue value);
  void assign(size_t slot, int member, HostValue value, const cuda_source::Token& where);
  bool find_global(const std::string& name);
  void read_enumerators();
  const Item* find_item(const std::string& name, Item::Kind kind) const;
  bool decide(const HostValue& value, const cuda_source::Token& where);
  size_t code_of(size_t first, size_t last);

  // follow_statements.cpp
  Flow block(Range range);
  Flow statement();
  Flow if_statement(size_t start);
  bool merge_branches(const TermRef& condition, size_t yes, size_t no);
  bool quiet_branch(size_t body);
  Flow for_statement(size_t start, size_t stop);
  Flow while_statement(size_t start, size_t stop);
  Flow do_statement(size_t start);
  Flow switch_statement(size_t start);
  Flow return_statement(size_t stop);
  Flow run_loop(Range condition, Range step, size_t body, bool check_first);
  HostValue condition(Range range);
  bool declaration(size_t stop);
  void declarator(const CType& base, size_t stop);
  bool looks_like_declaration(size_t stop) const;
  size_t behind_statement(size_t at, int depth = 0) const;
  std::vector<Range> split(Range range, std::string_view separator = ",") const;

  // follow_repeat.cpp
  bool counts_up(Range condition, Range step) const;
  bool repeat_loop(Range condition, Range step, size_t body);
  void run_turn(const TermRef& begin, const TermRef& end, const std::string& name, size_t body,
                const cuda_source::Token& where);

  // follow_expressions.cpp
  HostValue evaluate(Range range);
  HostValue expression();
  HostValue ternary();
  HostValue binary(int level);
  HostValue unary();
  HostValue postfix();
  HostValue primary();
  HostValue parenthesised();
  HostValue lambda();
  HostValue size_of();
  HostValue named_cast();
  HostValue name();
  HostValue member_of(HostValue object, const std::string& member, const cuda_source::Token& where);
  HostValue step(HostValue value, const std::string& op, bool before,
                 const cuda_source::Token& where);
  std::string binary_operator(size_t* length) const;
  Extents extents_of(const HostValue& value, const cuda_source::Token& where, const char* what);
  std::string template_text(Range range);

  // follow_calls.cpp
  HostValue call(const std::string& name, Range templates, bool has_templates,
                 const cuda_source::Token& where);
  HostValue runtime_call(const std::string& name, const std::vector<Range>& arguments,
                         const cuda_source::Token& where, bool* known);
  HostValue library_call(const std::string& name, const std::vector<Range>& arguments,
                         const cuda_source::Token& where, bool* known);
  HostValue call_item(const Item& item, Range templates, bool has_templates,
                      const std::vector<Range>& arguments, const cuda_source::Token& where);
  HostValue call_lambda(const HostValue& function, const std::vector<Range>& arguments,
                        const cuda_source::Token& where);
  HostValue run_body(size_t code, Range body, const cuda_source::Token& where);
  void launch(const HostValue& kernel, const cuda_source::Token& where);
  void launch_by_call(const std::vector<Range>& arguments, bool cooperative,
                      const cuda_source::Token& where);
  void record(const HostValue& kernel, RecordedLaunch launch,
              const std::vector<HostValue>& arguments,
              const std::vector<cuda_source::Token>& places, const cuda_source::Token& where);
  std::string deduced(const Item& kernel, const std::vector<CParameter>& parameters,
                      const std::vector<HostValue>& arguments) const;
  bool kernel_argument(const HostValue& value, const CParameter* parameter,
                       const cuda_source::Token& where, const std::string& what,
                       RecordedLaunch& launch);
  void allocate(const std::vector<Range>& arguments, const cuda_source::Token& where);
  void set_memory(const std::vector<Range>& arguments, const cuda_source::Token& where);
  void copy_memory(const std::vector<Range>& arguments, const cuda_source::Token& where);
  void bytes_launch(const char* kernel, const std::vector<KernelArgument>& arguments,
                    const TermRef& bytes, const cuda_source::Token& where);
  void note_use(const HostValue& pointer, bool writes);
  void set_by_address(const HostValue& address, HostValue value, const cuda_source::Token& where);
  HostValue target_of(const HostValue& address) const;

  const HostSource& source_;
  Followed out_;
  std::deque<std::vector<cuda_source::Token>> codes_;
  std::map<std::pair<size_t, size_t>, size_t> code_numbers_;
  size_t code_ = 0, at_ = 0, end_ = 0;
  std::deque<Slot> slots_;
  std::vector<Scope> scopes_;
  size_t frame_ = 1;  // first scope of the running function; 0 is the file's
  TypeNames types_;
  std::map<std::string, HostValue> enumerators_;
  std::set<std::string> evaluating_;
  HostValue result_;
  size_t steps_ = 0, taken_ = 0;
  int depth_ = 0, calls_ = 0, repeat_ = -1;
  bool broken_ = false;
};

}  // namespace kw::cuda_import
