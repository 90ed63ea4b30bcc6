// The life of a trace's state, and the places in the file that its nodes and errors get.
#include "frontend/trace_state.h"

namespace kw::frontend {

TraceState::TraceState(std::shared_ptr<const Source> from, TraceSettings given)
    : source(std::move(from)), settings(std::move(given)), globals(std::make_shared<Scope>()) {
  globals->names["__name__"] = std::string("reference");
}

TraceState::~TraceState() {
  // Functions own their scope and scopes own their functions. This cycle must be broken by hand.
  for (const auto& scope : scopes) {
    if (const auto alive = scope.lock()) alive->names.clear();
  }
  for (const auto& object : objects) {
    if (const auto alive = object.lock()) {
      alive->attributes.clear();
      alive->order.clear();
      // So do an Enum and its members.
      if (alive->cls->kind == ClassKind::Enum) alive->cls->attributes.clear();
    }
  }
  globals->names.clear();
  for (const auto& [file, scope] : libraries) scope->names.clear();
}

void TraceState::mark(std::string origin, const Json& node) {
  if (library() && keeps_origin) return;
  if (library())
    graph.at(std::move(origin));
  else
    graph.at(std::move(origin), line_of(node), column_of(node));
}

std::string TraceState::shown(const Json& node) const {
  if (library() && keeps_origin) return "";
  return text_of(library() ? *library() : *source, node);
}

Error TraceState::located(const Json& node, Error error) {
  if (is_located || library()) return error;
  is_located = true;
  Error result = error_at(*source, node, error.message);
  result.blame = error.blame;
  return result;
}

Error TraceState::refuse(const Json& node, const std::string& message) {
  return located(node, input_error(message));
}

}  // namespace kw::frontend
