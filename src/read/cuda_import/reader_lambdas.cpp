// Lambdas: a value that keeps its tokens and the variables of the place where it was written.
#include <memory>

#include "cuda_import/reader_calls.h"

namespace kw::cuda_import {
namespace {

/// What is behind a lambda's parameters; a problem where it says more than a type of a number.
void lambda_result(HostState& host, HostValue& out) {
  const size_t first = host.at;
  while (host.at < host.end && !host.here().is("{")) ++host.at;
  for (size_t i = first; i < host.at; ++i) {
    if (host.token(i).is("&") || host.token(i).is("&&") || host.token(i).is("decltype"))
      host.problem(host.token(i), "a function that returns a reference is not followed", "");
    if (!host.token(i).is("->")) continue;
    size_t at = i + 1;
    out.type = read_type(host.tokens(), at, host.at, host.types).value_or(CType{});
  }
}

}  // namespace

HostValue lambda_value(HostState& host) {
  HostValue out;
  out.kind = HostValue::Kind::Function;
  out.code = host.code;
  const size_t captures = host.behind(host.at);
  for (const TokenRange& one : host.split({host.at + 1, captures - 1})) {
    if (one.first >= one.last) continue;
    for (size_t i = one.first + 1; i < one.last; ++i) {
      if (host.token(i).is("=") || host.token(i).is("(") || host.token(i).is("{"))
        host.problem(host.token(i), "a capture with a value of its own is not followed",
                     "capture variables by their names");
    }
    if (!host.token(one.first).is("&")) host.copied = host.slots.size();
  }
  host.at = captures;
  if (host.next_is("(")) {
    const size_t end = host.behind(host.at);
    out.first = host.at + 1;
    out.last = end - 1;
    host.at = end;
  }
  lambda_result(host, out);
  const size_t end = host.behind(host.at);
  out.body_first = host.at + 1;
  out.body_last = std::max(host.at + 1, end - 1);
  host.at = end;
  out.frame = host.frame;
  out.scopes = std::make_shared<std::vector<std::map<std::string, size_t>>>(host.scopes);
  return out;
}

}  // namespace kw::cuda_import
