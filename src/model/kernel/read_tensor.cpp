// Reads the tensor lines: input, param, saved, grad_output, output, inout, scratch, and tensormap.
// All except tensormap share one form, so one method reads them and the keyword sets role and kind.
// The clauses after the shape may come in any order, each once. Extents and strides stay
// expressions; values are checked later, when dims are known. A method per keyword would repeat the
// same code seven times. The cost: clauses that a role does not allow must be refused one by one.
#include <fmt/core.h>

#include "core/text.h"
#include "kernel/line_reader.h"
#include "kernel/plan_names.h"

namespace kw::kernel {

namespace {

constexpr size_t kMaxRank = 16;
constexpr int64_t kMaxAlign = 256;

}  // namespace

bool LineReader::tensor() {
  TensorDecl decl;
  decl.role = role_;
  decl.kind = kind_;
  decl.line = cursor_.line();
  decl.column = cursor_.column();
  if (!new_name(role_name(role_), decl.name)) return false;
  const size_t mark = cursor_.position();
  if (cursor_.accept("?")) {
    decl.optional = true;
    if (role_ != Role::Input) {
      return cursor_.fail_at(mark, mark + 1,
                             fmt::format("an {} cannot be optional", role_name(role_)),
                             "only inputs take '?'");
    }
  }
  if (!cursor_.expect(":", "the tensor's name") || !dtype(decl.dtype)) return false;
  if (!tensor_shape(decl) || !tensor_clauses(decl)) return false;
  draft_.module.tensors.push_back(std::move(decl));
  return true;
}

bool LineReader::dtype(tensor::DType& type) {
  const size_t begin = cursor_.position();
  const std::string word(cursor_.take_word());
  if (word.empty()) return cursor_.fail("expected a dtype, found " + cursor_.found());
  if (const auto found = tensor::dtype_from_name(word)) {
    type = *found;
    return true;
  }
  cursor_.fail_at(
      begin, begin + word.size(),
      fmt::format("unknown dtype '{}'{}", word, suggestion(word, tensor::dtype_names())),
      "dtypes are " + join(tensor::dtype_names(), ", "));
  return true;  // the shape can still be read
}

bool LineReader::tensor_shape(TensorDecl& decl) {
  const size_t begin = cursor_.position();
  if (!cursor_.accept("[")) {
    return cursor_.fail("expected '[' and a shape after the dtype, found " + cursor_.found(),
                        "the form is fp16[B, D]; a single value is fp16[]");
  }
  if (cursor_.accept("]")) return true;
  do {
    Expr extent;
    if (!expression(extent)) return false;
    decl.shape.push_back(std::move(extent));
  } while (cursor_.accept(","));
  if (!cursor_.expect("]", "the shape")) return false;
  if (decl.shape.size() <= kMaxRank) return true;
  return cursor_.fail_at(
      begin, cursor_.position_after(),
      fmt::format("a tensor has at most {} dimensions, not {}", kMaxRank, decl.shape.size()));
}

bool LineReader::tensor_clauses(TensorDecl& decl) {
  bool strided = false, aligned = false, filled = false;
  while (!cursor_.at_end()) {
    const size_t begin = cursor_.position();
    bool* seen = nullptr;
    if (cursor_.accept("=")) {
      seen = &filled;
      if (!tensor_fill(decl)) return false;
    } else if (cursor_.accept_word("align")) {
      seen = &aligned;
      if (!tensor_align(decl)) return false;
    } else if (cursor_.accept_word("strides")) {
      seen = &strided;
      if (decl.role == Role::Scratch) {
        return cursor_.fail_at(begin, begin + 7, "scratch is always contiguous");
      }
      if (!expressions("strides", 0, kMaxRank, decl.strides)) return false;
      if (decl.strides.size() != decl.shape.size()) {
        return cursor_.fail_at(
            begin, cursor_.position_after(),
            fmt::format("{} strides for {} dimensions", decl.strides.size(), decl.shape.size()),
            "give one stride, in elements, for each dimension");
      }
    } else {
      return cursor_.fail("unexpected " + cursor_.found() + " after the shape",
                          decl.role == Role::Scratch
                              ? "what may follow: '= 0', '= 0 kept', 'align N'"
                              : "what may follow: 'strides(…)', 'align N'");
    }
    if (*seen) return cursor_.fail_at(begin, cursor_.position_after(), "this is given twice");
    *seen = true;
  }
  return true;
}

bool LineReader::tensor_fill(TensorDecl& decl) {
  if (decl.role != Role::Scratch) {
    return cursor_.fail("only scratch can start at a value",
                        decl.role == Role::Output ? "outputs are poisoned; write every element"
                                                  : "inputs come from the caller");
  }
  const size_t begin = cursor_.position();
  const std::optional<int64_t> value = cursor_.take_integer("0");
  if (!value) return false;
  if (*value != 0) {
    return cursor_.fail_at(begin, cursor_.position_after(), "scratch can only start at 0");
  }
  decl.fill = cursor_.accept_word("kept") ? Fill::ZeroKept : Fill::Zero;
  return true;
}

bool LineReader::tensor_align(TensorDecl& decl) {
  const size_t begin = cursor_.position();
  const std::optional<int64_t> value = cursor_.take_integer("a number of bytes");
  if (!value) return false;
  const bool power = *value > 0 && (*value & (*value - 1)) == 0;
  const int64_t least = tensor::dtype_size(decl.dtype);
  if (!power || *value > kMaxAlign || *value < least) {
    return cursor_.fail_at(
        begin, cursor_.position_after(),
        fmt::format("{} is not a usable alignment for {}", *value, tensor::dtype_name(decl.dtype)),
        fmt::format("a power of two from {} to {}", least, kMaxAlign));
  }
  decl.align = *value;
  return true;
}

bool LineReader::tensormap() {
  TensormapDecl decl;
  decl.line = cursor_.line();
  decl.column = cursor_.column();
  const std::string form = "the form is 'tensormap T of x box(64, 128) swizzle 128B'";
  if (!new_name("tensormap", decl.name)) return false;
  if (!cursor_.accept_word("of")) {
    return cursor_.fail("expected 'of' and a tensor, found " + cursor_.found(), form);
  }
  decl.tensor = std::string(cursor_.take_word());
  if (decl.tensor.empty())
    return cursor_.fail("expected a tensor's name, found " + cursor_.found(), form);
  if (!cursor_.accept_word("box")) {
    return cursor_.fail("expected 'box(…)', found " + cursor_.found(), form);
  }
  if (!expressions("box", 1, 5, decl.box)) return false;
  if (cursor_.accept_word("swizzle")) {
    const size_t begin = cursor_.position();
    const std::string_view word = cursor_.take_run("0123456789ABnone");
    if (word == "32B")
      decl.swizzle_bytes = 32;
    else if (word == "64B")
      decl.swizzle_bytes = 64;
    else if (word == "128B")
      decl.swizzle_bytes = 128;
    else if (word != "none") {
      return cursor_.fail_at(begin, begin + std::max<size_t>(word.size(), 1), "unknown swizzle",
                             "swizzles are none, 32B, 64B and 128B");
    }
  }
  draft_.module.tensormaps.push_back(std::move(decl));
  return cursor_.expect_end(form);
}

}  // namespace kw::kernel
