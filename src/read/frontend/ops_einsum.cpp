// einsum and tensordot as a chain of batched matrix products, one per further operand. A letter
// that both operands have is a batch letter if a later operand or the output needs it; otherwise it
// is summed. Letters of one operand alone are rows or columns. The alternative, one sum over a
// product of all letters, would hide the matrix products from code generation. Operands are joined
// from left to right, as PyTorch does without opt_einsum. The cost: permutes and reshapes around
// each product.
#include <algorithm>
#include <map>

#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_move.h"
#include "graph/compose_reduce.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;

struct Labelled {
  NodeId node = -1;
  std::string letters;  // one per dim
};

bool contains(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

// Dims of an ellipsis get digits, counted from the last dim, so that they align if ranks differ.
constexpr char kEllipsisEnd = '9';

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

Result<std::string> expand_ellipsis(std::string_view text, int rank, bool* had) {
  std::string letters;
  const size_t dots = text.find("...");
  *had = dots != std::string_view::npos;
  const int named = static_cast<int>(text.size()) - (*had ? 3 : 0);
  if (!*had) return std::string(text);
  const int missing = rank < 0 ? -rank - 1 : rank - named;
  if (missing < 0 || missing > 9) {
    return input_error("einsum(): an ellipsis has no room in one of the operands");
  }
  letters = text.substr(0, dots);
  for (int i = 0; i < missing; ++i) letters += static_cast<char>(kEllipsisEnd - missing + 1 + i);
  letters += text.substr(dots + 3);
  return letters;
}

Status check_letters(const std::string& letters) {
  for (char letter : letters) {
    const bool named = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
    if (!named && !(letter >= '1' && letter <= kEllipsisEnd)) {
      return input_error(
          "einsum(): invalid subscript given, only letters [a-zA-Z], ',', '->' and '...': '{}'",
          letter);
    }
  }
  return Done{};
}

// Without "->": the ellipsis, then every letter that occurs once, in alphabetical order.
std::string implicit_output(const std::vector<std::string>& inputs) {
  std::map<char, int> seen;
  for (const std::string& letters : inputs) {
    for (char letter : letters) ++seen[letter];
  }
  std::string ellipsis, once;
  for (const auto& [letter, count] : seen) {
    if (letter <= kEllipsisEnd)
      ellipsis += letter;
    else if (count == 1)
      once += letter;
  }
  return ellipsis + once;
}

Result<Equation> parse_equation(std::string text, const graph::Builder& g,
                                const std::vector<NodeId>& operands) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->");
  std::vector<std::string> pieces;
  std::string left = text.substr(0, arrow);
  for (size_t start = 0;;) {
    const size_t comma = left.find(',', start);
    pieces.push_back(left.substr(start, comma == std::string::npos ? comma : comma - start));
    if (comma == std::string::npos) break;
    start = comma + 1;
  }
  if (pieces.size() != operands.size()) {
    return input_error("einsum(): the equation has {} operands, but {} were given", pieces.size(),
                       operands.size());
  }
  Equation equation;
  bool had = false;
  int widest = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const int rank = g.rank(operands[i]);
    std::string letters = KW_TRY(expand_ellipsis(pieces[i], rank, &had));
    KW_TRY(check_letters(letters));
    if (static_cast<int>(letters.size()) != rank) {
      return input_error(
          "einsum(): the number of subscripts in the equation ({}) does not match the number of "
          "dimensions ({}) for operand {}",
          letters.size(), rank, i);
    }
    for (char letter : letters) {
      if (letter <= kEllipsisEnd) widest = std::max(widest, kEllipsisEnd - letter + 1);
    }
    equation.inputs.push_back(std::move(letters));
  }
  if (arrow == std::string::npos) {
    equation.output = implicit_output(equation.inputs);
  } else {
    equation.output = KW_TRY(expand_ellipsis(text.substr(arrow + 2), -widest - 1, &had));
    KW_TRY(check_letters(equation.output));
  }
  return equation;
}

// A letter that occurs twice in one operand means its diagonal.
Result<Labelled> take_diagonals(graph::Builder& g, Labelled x) {
  for (size_t i = 0; i < x.letters.size(); ++i) {
    const size_t again = x.letters.find(x.letters[i], i + 1);
    if (again == std::string::npos) continue;
    const char letter = x.letters[i];
    if (!(g.extent(x.node, static_cast<int>(i)) == g.extent(x.node, static_cast<int>(again)))) {
      return input_error(
          "einsum(): subscript {} is repeated for operand 0 but the sizes don't match", letter);
    }
    x.node =
        KW_TRY(graph::diagonal(g, x.node, Dim(0), static_cast<int>(i), static_cast<int>(again)));
    x.letters.erase(again, 1);
    x.letters.erase(i, 1);
    x.letters += letter;  // diagonal() puts the new dim last
    return take_diagonals(g, std::move(x));
  }
  return x;
}

// Sums over the letters that are not in `needed`.
Result<Labelled> sum_unneeded(graph::Builder& g, Labelled x, const std::string& needed) {
  std::vector<int> gone;
  std::string kept;
  for (size_t i = 0; i < x.letters.size(); ++i) {
    if (contains(needed, x.letters[i]))
      kept += x.letters[i];
    else
      gone.push_back(static_cast<int>(i));
  }
  if (gone.empty()) return x;
  x.node = KW_TRY(graph::sum(g, x.node, gone, false, g.dtype(x.node)));
  x.letters = kept;
  return x;
}

Result<Labelled> in_order(graph::Builder& g, const Labelled& x, const std::string& order) {
  std::vector<int> dims;
  for (char letter : order) {
    const size_t at = x.letters.find(letter);
    dims.push_back(static_cast<int>(at));
  }
  return Labelled{KW_TRY(g.permute(x.node, dims)), order};
}

struct LabelExtents {
  std::map<char, Dim> of;
};

// Extents of 1 broadcast to the extent of the same letter in other operands.
Status note_extents(const graph::Builder& g, const Labelled& x, LabelExtents& extents) {
  for (size_t i = 0; i < x.letters.size(); ++i) {
    const Dim& extent = g.extent(x.node, static_cast<int>(i));
    auto [place, fresh] = extents.of.emplace(x.letters[i], extent);
    if (fresh || extent == place->second || extent.value() == 1) continue;
    if (place->second.value() != 1) {
      return input_error(
          "einsum(): operands do not broadcast with remapped shapes: subscript {} is {} and {}",
          x.letters[i], place->second.value(), extent.value());
    }
    place->second = extent;
  }
  return Done{};
}

Dim product(const LabelExtents& extents, const std::string& letters) {
  Dim count(1);
  for (char letter : letters) count = count * extents.of.at(letter);
  return count;
}

Result<NodeId> as_batch(graph::Builder& g, const Labelled& x, const LabelExtents& extents,
                        const std::string& order, const graph::Shape& shape) {
  Labelled turned = KW_TRY(in_order(g, x, order));
  graph::Shape full;
  for (char letter : order) full.push_back(extents.of.at(letter));
  NodeId wide = KW_TRY(g.expand(turned.node, full));
  return g.reshape(wide, shape);
}

Result<Labelled> contract(graph::Builder& g, const Labelled& a, const Labelled& b,
                          const std::string& needed, const LabelExtents& extents) {
  std::string batch, rows, columns, summed;
  for (char letter : a.letters) {
    const bool both = contains(b.letters, letter);
    const bool later = contains(needed, letter);
    (both ? (later ? batch : summed) : rows) += letter;
  }
  for (char letter : b.letters) {
    if (!contains(a.letters, letter)) columns += letter;
  }
  const Dim n = product(extents, batch), m = product(extents, rows);
  const Dim k = product(extents, summed), p = product(extents, columns);
  NodeId left = KW_TRY(as_batch(g, a, extents, batch + rows + summed, {n, m, k}));
  NodeId right = KW_TRY(as_batch(g, b, extents, batch + summed + columns, {n, k, p}));
  NodeId result = KW_TRY(g.matmul(left, right));
  graph::Shape shape;
  for (char letter : batch + rows + columns) shape.push_back(extents.of.at(letter));
  return Labelled{KW_TRY(g.reshape(result, shape)), batch + rows + columns};
}

Result<NodeId> evaluate(graph::Builder& g, const Equation& equation,
                        const std::vector<NodeId>& operands) {
  std::vector<Labelled> left;
  LabelExtents extents;
  for (size_t i = 0; i < operands.size(); ++i) {
    left.push_back(KW_TRY(take_diagonals(g, {operands[i], equation.inputs[i]})));
    KW_TRY(note_extents(g, left.back(), extents));
  }
  for (char letter : equation.output) {
    if (!extents.of.count(letter)) {
      return input_error(
          "einsum(): output subscript {} does not appear in the equation for any input operand",
          letter);
    }
  }
  auto needed_after = [&](size_t i) {
    std::string needed = equation.output;
    for (size_t j = i; j < left.size(); ++j) needed += left[j].letters;
    return needed;
  };
  Labelled result = left[0];
  result = KW_TRY(sum_unneeded(g, result, needed_after(1)));
  for (size_t i = 1; i < left.size(); ++i) {
    const std::string later = needed_after(i + 1);
    Labelled next = KW_TRY(sum_unneeded(g, left[i], later + result.letters));
    result = KW_TRY(sum_unneeded(g, result, later + next.letters));
    result = KW_TRY(contract(g, result, next, later, extents));
  }
  result = KW_TRY(sum_unneeded(g, result, equation.output));
  Labelled ordered = KW_TRY(in_order(g, result, equation.output));
  return ordered.node;
}

Result<Value> einsum(Call& call) {
  std::string text = KW_TRY(call.text("equation"));
  std::vector<NodeId> operands = KW_TRY(call.tensors("operands"));
  if (operands.empty()) return input_error("einsum(): must provide at least one operand");
  for (NodeId operand : operands) {
    if (call.graph().dtype(operand) != call.graph().dtype(operands[0])) {
      return input_error("expected scalar type {} but found {}",
                         graph::torch_name(call.graph().dtype(operands[0])),
                         graph::torch_name(call.graph().dtype(operand)));
    }
  }
  Equation equation = KW_TRY(parse_equation(text, call.graph(), operands));
  return tensor_value(KW_TRY(evaluate(call.graph(), equation, operands)));
}

Result<std::vector<int>> listed_dims(Call& call, const Value& value, NodeId x) {
  std::vector<int> dims;
  const std::vector<Value>* items = items_of(value);
  for (const Value& item : items ? *items : std::vector<Value>{value}) {
    const auto* dim = item.get<Dim>();
    if (!dim) return input_error("tensordot expects dims to be int or lists of ints");
    dims.push_back(KW_TRY(call.graph().wrap_dim(dim->value(), x)));
  }
  return dims;
}

// tensordot is an einsum with letters given by position.
Result<Value> tensordot(Call& call) {
  NodeId a = KW_TRY(call.tensor("a"));
  NodeId b = KW_TRY(call.tensor("b"));
  graph::Builder& g = call.graph();
  const int left = g.rank(a), right = g.rank(b);
  if (left > 26 || right > 26) return input_error("tensordot(): more than 26 dims");
  std::vector<int> from, to;
  if (const auto* count = call["dims"].get<Dim>()) {
    const int n = static_cast<int>(count->value());
    if (n < 0 || n > left || n > right) {
      return input_error("tensordot expects dims >= 0, but got dims={}", n);
    }
    for (int i = 0; i < n; ++i) {
      from.push_back(left - n + i);
      to.push_back(i);
    }
  } else {
    const std::vector<Value>* pair = items_of(call["dims"]);
    if (!pair || pair->size() != 2) {
      return input_error("tensordot expects dims to be int or a pair of lists of ints");
    }
    from = KW_TRY(listed_dims(call, (*pair)[0], a));
    to = KW_TRY(listed_dims(call, (*pair)[1], b));
  }
  if (from.size() != to.size()) {
    return input_error("both dimension lists should have same length");
  }
  Equation equation{{std::string(), std::string()}, ""};
  for (int i = 0; i < left; ++i) equation.inputs[0] += static_cast<char>('a' + i);
  for (int i = 0; i < right; ++i) equation.inputs[1] += static_cast<char>('A' + i);
  for (size_t i = 0; i < from.size(); ++i) {
    equation.inputs[1][static_cast<size_t>(to[i])] =
        equation.inputs[0][static_cast<size_t>(from[i])];
  }
  for (char letter : equation.inputs[0]) {
    if (!contains(equation.inputs[1], letter)) equation.output += letter;
  }
  for (char letter : equation.inputs[1]) {
    if (!contains(equation.inputs[0], letter)) equation.output += letter;
  }
  return tensor_value(KW_TRY(evaluate(g, equation, {a, b})));
}

constexpr OpRow kEinsumRows[] = {
    {"torch.einsum", "equation, *operands", einsum},
    {"torch.tensordot", "a, b, dims=2", tensordot},
};

}  // namespace

std::span<const OpRow> einsum_rows() { return kEinsumRows; }

}  // namespace kw::frontend
