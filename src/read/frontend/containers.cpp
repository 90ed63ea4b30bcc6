// Items of lists, tuples, dicts and strings.
#include <fmt/core.h>

#include <algorithm>

#include "frontend/numbers.h"
#include "frontend/objects.h"
#include "frontend/refusals.h"
#include "frontend/subscript.h"

namespace kw::frontend {
namespace {

Result<int64_t> position(const Value& index, int64_t size, const char* what) {
  const auto given = as_dim(index);
  if (!given && index.get<Tensor>())
    return input_error(value_decides(fmt::format("a tensor indexes a {}", what)));
  if (!given)
    return input_error("{} indices must be integers or slices, not {}", what, type_name(index));
  const int64_t at = given->value() < 0 ? given->value() + size : given->value();
  if (at < 0 || at >= size)
    return input_error("{} index {} is out of range: it has {} items", what, given->value(), size);
  return at;
}

/// Positions a slice selects, as Python counts them.
Result<std::vector<size_t>> positions(graph::Builder& graph, const SliceValue& slice,
                                      int64_t size) {
  const auto bound = [&](const Value& value, int64_t fallback, int64_t low, int64_t high) {
    const auto given = as_dim(value);
    if (!given) return fallback;
    const int64_t raw = concrete(graph, *given);
    return std::clamp(raw < 0 ? raw + size : raw, low, high);
  };
  for (const Value* one : {&slice.start, &slice.stop, &slice.step}) {
    if (!one->is_none() && !as_dim(*one))
      return input_error("slice indices must be integers or None, not {}", type_name(*one));
  }
  const int64_t step = slice.step.is_none() ? 1 : concrete(graph, *as_dim(slice.step));
  if (step == 0) return input_error("slice step cannot be zero");
  std::vector<size_t> result;
  if (step > 0) {
    const int64_t stop = bound(slice.stop, size, 0, size);
    for (int64_t i = bound(slice.start, 0, 0, size); i < stop; i += std::min(step, size + 1))
      result.push_back(static_cast<size_t>(i));
  } else {
    const int64_t stop = bound(slice.stop, -1, -1, size - 1);
    for (int64_t i = bound(slice.start, size - 1, -1, size - 1); i > stop;
         i += std::max(step, -size - 1))
      result.push_back(static_cast<size_t>(i));
  }
  return result;
}

Result<Value> sequence_item(graph::Builder& graph, const Value& container, const Value& index) {
  const std::vector<Value>& items = *items_of(container);
  const bool list = container.get<std::shared_ptr<List>>() != nullptr;
  if (const auto* slice = index.get<std::shared_ptr<SliceValue>>()) {
    std::vector<Value> picked;
    for (const size_t i : KW_TRY(positions(graph, **slice, static_cast<int64_t>(items.size()))))
      picked.push_back(items[i]);
    return list ? make_list(std::move(picked)) : make_tuple(std::move(picked));
  }
  const int64_t at =
      KW_TRY(position(index, static_cast<int64_t>(items.size()), list ? "list" : "tuple"));
  return items[static_cast<size_t>(at)];
}

Result<Value> text_item(graph::Builder& graph, const std::string& text, const Value& index) {
  const auto size = static_cast<int64_t>(text.size());
  if (const auto* slice = index.get<std::shared_ptr<SliceValue>>()) {
    std::string picked;
    for (const size_t i : KW_TRY(positions(graph, **slice, size))) picked += text[i];
    return Value(std::move(picked));
  }
  const int64_t at = KW_TRY(position(index, size, "string"));
  return Value(std::string(1, text[static_cast<size_t>(at)]));
}

}  // namespace

Result<Value> container_item(graph::Builder& graph, const Value& container, const Value& index) {
  if (items_of(container)) return sequence_item(graph, container, index);
  if (const auto* text = container.get<std::string>()) return text_item(graph, *text, index);
  if (const auto* dict = container.get<std::shared_ptr<Dict>>()) {
    for (const auto& [key, value] : (*dict)->items) {
      if (same(key, index)) return value;
    }
    return input_error("the dict has no key '{}'", to_text(index));
  }
  return input_error("a {} cannot be indexed", type_name(container));
}

void set_item(Dict& dict, const Value& key, const Value& value) {
  for (auto& [known, old] : dict.items) {
    if (same(known, key)) {
      old = value;
      return;
    }
  }
  dict.items.emplace_back(key, value);
}

Status delete_container_item(const Value& container, const Value& index) {
  if (const auto* dict = container.get<std::shared_ptr<Dict>>()) {
    const size_t before = (*dict)->items.size();
    std::erase_if((*dict)->items, [&](const auto& one) { return same(one.first, index); });
    if ((*dict)->items.size() < before) return Done{};
    return input_error("the dict has no key '{}'", to_text(index));
  }
  const auto* list = container.get<std::shared_ptr<List>>();
  if (!list || index.get<std::shared_ptr<SliceValue>>())
    return input_error("this part of a {} cannot be deleted", type_name(container));
  std::vector<Value>& items = (*list)->items;
  const int64_t at = KW_TRY(position(index, static_cast<int64_t>(items.size()), "list"));
  items.erase(items.begin() + at);
  return Done{};
}

Status assign_container_item(const Value& container, const Value& index, const Value& value) {
  if (const auto* dict = container.get<std::shared_ptr<Dict>>()) {
    set_item(**dict, index, value);
    return Done{};
  }
  const auto* list = container.get<std::shared_ptr<List>>();
  if (!list) return input_error("items of a {} cannot be assigned", type_name(container));
  if (index.get<std::shared_ptr<SliceValue>>())
    return input_error("assigning to a slice of a list is not supported\nassign items one by one");
  std::vector<Value>& items = (*list)->items;
  const int64_t at = KW_TRY(position(index, static_cast<int64_t>(items.size()), "list"));
  items[static_cast<size_t>(at)] = value;
  return Done{};
}

}  // namespace kw::frontend
