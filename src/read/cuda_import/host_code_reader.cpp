// The problem: a launcher computes grids and sizes from its parameters, and a plan needs them as
// expressions. The choice: interpret the host code with symbols for parameters, one path per run. A
// condition on the shape that cannot be folded is a decision: this run takes one branch, a later
// run the other. The alternative, recording a real run, shows one shape only (host_recording does
// that). The cost: the number of decisions per path is limited, and unknown code is refused. The
// readers of names, expressions, calls, launches and statements are functions over HostState.
#include "cuda_import/host_code_reader.h"

#include <fmt/core.h>

#include <set>

#include "cuda_import/host_state.h"
#include "cuda_import/reader_calls.h"
#include "cuda_import/reader_names.h"

namespace kw::cuda_import {
namespace {

/// Types and statements are read from the words of the language, so they must mean what they say.
void check_macros(HostState& host, const cuda_source::Token& where) {
  static const std::set<std::string> kWords = {
      "if",     "else",    "for",      "while",     "do",       "switch", "case",   "default",
      "return", "break",   "throw",    "continue",  "goto",     "try",    "catch",  "sizeof",
      "auto",   "void",    "using",    "typedef",   "template", "float",  "double", "true",
      "false",  "nullptr", "operator", "namespace", "bool",     "dim3"};
  for (const auto& [name, macro] : host.source.macros) {
    const bool empty = macro.body.empty() || (macro.body.size() == 1 && macro.body[0].is(name));
    const bool qualifier =
        name.starts_with("__") || empty || name == "restrict" || name == "inline";
    if (qualifier || (kWords.count(name) == 0 && !is_type_word(name))) continue;
    host.problem(where, fmt::format("a macro gives '{}' another meaning", name), "leave it out");
  }
}

}  // namespace

HostCodeResult read_host_code(const HostSource& source, std::vector<bool> decisions,
                              const Item& launcher, const std::vector<HostValue>& arguments) {
  HostState host(source, std::move(decisions));
  read_enumerators(host);
  const std::vector<CParameter> parameters = source.parameters(launcher);
  const cuda_source::Token& where = source.tokens[launcher.first];
  check_macros(host, where);
  for (size_t i = 0; i < parameters.size() && i < arguments.size(); ++i) {
    const CType& type = parameters[i].type;
    const bool number =
        type.pointers == 0 && type.dtype && !arguments[i].is(HostValue::Kind::Scalar);
    host.declare(parameters[i].name, type,
                 number ? converted(host, arguments[i], type, where) : arguments[i]);
  }
  for (size_t i = launcher.parameters_last; i < launcher.body_first; ++i) {
    if (source.tokens[i].is("try"))
      host.problem(source.tokens[i], "a function that catches what it throws is not followed", "");
  }
  run_body(host, host.code_of(launcher.body_first, launcher.body_last), {}, where);
  host.out.decisions.resize(host.taken);
  return std::move(host.out);
}

}  // namespace kw::cuda_import
