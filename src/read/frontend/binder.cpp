#include "frontend/binder.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/contains.h"
#include "core/text.h"

namespace kw::frontend {

Status Binder::check_names() const {
  std::vector<std::string> names;
  for (const Parameter& parameter : found_.parameters) names.push_back(parameter.name);
  for (size_t i = 0; i < said_.size(); ++i) {
    const std::string& name = said_[i].name;
    const bool twice = std::any_of(said_.begin(), said_.begin() + static_cast<std::ptrdiff_t>(i),
                                   [&](const GivenInput& one) { return one.name == name; });
    if (twice) return input_error("input '{}' is given twice", name);
    const bool known = contains(names, name);
    if (!known && !found_.any_positional && !found_.any_keyword)
      return input_error("{}: {}() has no parameter '{}'{}; its parameters are: {}", file_,
                         found_.name, name, did_you_mean(name, names),
                         names.empty() ? "none" : join(names, ", "));
  }
  return Done{};
}

const GivenInput* Binder::said(const std::string& name) const {
  for (const GivenInput& given : said_) {
    if (given.name == name) return &given;
  }
  return nullptr;
}

const GivenInput* Binder::from_file(const std::string& name, size_t place) const {
  if (!file_inputs_) return nullptr;
  bool named = false;
  for (const GivenInput& given : *file_inputs_) {
    if (given.name == name) return &given;
    named = named || !given.name.empty();
  }
  return !named && place < file_inputs_->size() ? &(*file_inputs_)[place] : nullptr;
}

void Binder::add(TaskDraft& draft, const std::string& name, const GivenInput& given,
                 bool by_keyword, bool described) {
  Argument argument{name, by_keyword, {}};
  if (const auto* tensor = std::get_if<TensorText>(&given.value)) {
    argument.value = TensorArgument{*tensor, given.written, described};
  } else if (const auto* scalar = std::get_if<task::ScalarSpec>(&given.value)) {
    task::ScalarSpec spec = *scalar;
    spec.name = name;
    argument.value = spec;
  } else {
    skipped_ = true;  // None: the parameter keeps its default
    return;
  }
  draft.entry.arguments.push_back(std::move(argument));
}

void Binder::keep_default(TaskDraft& draft, const Parameter& parameter) {
  if (parameter.fallback)
    draft.defaults.push_back(*parameter.fallback);
  else
    draft.fixed.push_back(parameter.name + "=" + parameter.other);
}

Status Binder::add_parameter(TaskDraft& draft, size_t place) {
  const Parameter& parameter = found_.parameters[place];
  const GivenInput* given = said(parameter.name);
  GivenInput annotated;
  if (!given && parameter.annotation.kind == Annotation::Kind::Tensor) {
    annotated.name = parameter.name;
    annotated.value = parameter.annotation.tensor;
    given = &annotated;
  }
  const bool described = given != nullptr;
  if (!given) given = from_file(parameter.name, place);
  const bool by_keyword = skipped_ || parameter.keyword_only;
  if (given) {
    const bool none = std::holds_alternative<std::monostate>(given->value);
    if (none && parameter.other != "None")
      return input_error("{}: get_inputs() gives None for '{}'", file_, parameter.name);
    if (none) keep_default(draft, parameter);
    add(draft, parameter.name, *given, by_keyword, described);
    return Done{};
  }
  if (parameter.has_default) {
    skipped_ = true;
    keep_default(draft, parameter);
    return Done{};
  }
  const bool number = parameter.annotation.kind == Annotation::Kind::Int ||
                      parameter.annotation.kind == Annotation::Kind::Nothing;
  const bool is_dim = number && (draft.given.count(parameter.name) ||
                                 names_of(draft.entry.arguments).count(parameter.name));
  if (is_dim)
    draft.entry.arguments.push_back({parameter.name, by_keyword, DimArgument{}});
  else
    unknown_.push_back(parameter.name);
  return Done{};
}

Status Binder::bind(TaskDraft& draft) {
  KW_TRY(check_names());
  for (size_t i = 0; i < found_.parameters.size(); ++i) KW_TRY(add_parameter(draft, i));
  return unknown_.empty() ? add_rest(draft, found_.parameters.size()) : Status(Done{});
}

/// Adds the inputs that belong to no named parameter, for *args and **kwargs.
Status Binder::add_rest(TaskDraft& draft, size_t places) {
  const size_t count = file_inputs_ ? file_inputs_->size() : 0;
  if (count > places && !found_.any_positional)
    return input_error("{}: get_inputs() gives {} inputs, but {} takes {}", file_, count,
                       found_.name, places);
  for (size_t i = places; i < count; ++i)
    add(draft, fmt::format("in{}", i), (*file_inputs_)[i], false);
  for (const GivenInput& given : said_) {
    const bool bound = std::any_of(draft.entry.arguments.begin(), draft.entry.arguments.end(),
                                   [&](const Argument& one) { return one.name == given.name; });
    if (!bound) add(draft, given.name, given, !found_.any_positional, true);
  }
  if (draft.entry.arguments.empty() && (found_.any_positional || found_.any_keyword))
    return input_error(
        "{}: the inputs of {}() are not known\n  hint: pass --input 'x:fp32[B,D]' for each, in "
        "order",
        file_, found_.name);
  return Done{};
}

Error Binder::ask() const {
  std::string flags;
  for (const Parameter& parameter : found_.parameters) {
    if (!contains(unknown_, parameter.name)) continue;
    const auto kind = parameter.annotation.kind;
    const bool number = kind == Annotation::Kind::Int || kind == Annotation::Kind::Float ||
                        kind == Annotation::Kind::Bool;
    flags += number ? fmt::format(" --input {}=1", parameter.name)
                    : fmt::format(" --input '{}:fp32[B,D]'", parameter.name);
  }
  return input_error(
      "{}: the inputs of {}() are not known: {}\n  hint: pass{} (with the right dtypes and "
      "shapes), or annotate them ({}: \"fp32[B, D]\"), or write get_inputs()",
      file_, found_.name, join(unknown_, ", "), flags, unknown_[0]);
}

}  // namespace kw::frontend
