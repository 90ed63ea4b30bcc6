// The problem: parameters are declared in many spellings of the same C type. The choice: read
// qualifiers, words and stars, then look the base up in a table of aliases and the file's own
// names. The result has the dtype and the size of an element if the type is known. The alternative,
// asking a compiler, is not possible before the file has been imported. The cost: a template such
// as std::vector<int> is kept only as text.
#include "cuda_import/types.h"

#include <algorithm>
#include <array>
#include <set>

#include "cuda_source/cuda_types.h"

namespace kw::cuda_import {

namespace {

const std::set<std::string> kQualifiers = {
    "const",     "volatile",   "__restrict__", "__restrict",     "restrict",     "static",
    "constexpr", "inline",     "extern",       "register",       "typename",     "struct",
    "class",     "enum",       "__const__",    "mutable",        "thread_local", "__host__",
    "__thread",  "__device__", "__constant__", "__forceinline__"};
const std::set<std::string> kLasting = {"static", "thread_local", "__thread", "extern"};
const std::set<std::string> kIntegerWords = {"unsigned", "signed", "int", "long", "short", "char"};

struct Alias {
  const char* name;
  const char* means;  // the name that kernel::find_cuda_type knows
};
constexpr std::array kAliases = {
    Alias{"half", "__half"},
    Alias{"half2", "__half2"},
    Alias{"nv_bfloat16", "__nv_bfloat16"},
    Alias{"nv_bfloat162", "__nv_bfloat162"},
    Alias{"bfloat16", "__nv_bfloat16"},
    Alias{"int8_t", "signed char"},
    Alias{"uint8_t", "unsigned char"},
    Alias{"int16_t", "short"},
    Alias{"uint16_t", "unsigned short"},
    Alias{"ushort", "unsigned short"},
    Alias{"int32_t", "int"},
    Alias{"uint32_t", "unsigned int"},
    Alias{"uint", "unsigned int"},
    Alias{"int64_t", "long long"},
    Alias{"uint64_t", "unsigned long long"},
    Alias{"ulong", "unsigned long"},
    Alias{"size_t", "unsigned long"},
    Alias{"ssize_t", "long"},
    Alias{"ptrdiff_t", "long"},
    Alias{"intptr_t", "long"},
    Alias{"uintptr_t", "unsigned long"},
    Alias{"byte", "unsigned char"},
    Alias{"float_t", "float"},
};

/// An integer type in the usual order of words: "long unsigned" is "unsigned long".
std::string integer_name(const std::vector<std::string>& words) {
  const auto count = [&](const char* word) { return std::ranges::count(words, word); };
  const bool is_unsigned = count("unsigned") > 0;
  if (count("char")) return is_unsigned ? "unsigned char" : "signed char";
  if (count("short")) return is_unsigned ? "unsigned short" : "short";
  if (count("long") >= 2) return is_unsigned ? "unsigned long long" : "long long";
  if (count("long")) return is_unsigned ? "unsigned long" : "long";
  return is_unsigned ? "unsigned int" : "int";
}

std::string without_std(std::string name) {
  for (const char* prefix : {"::", "std::", "cuda::std::"}) {
    if (name.starts_with(prefix)) name = name.substr(std::string_view(prefix).size());
  }
  return name;
}

void find_base(CType& type, const TypeNames& names) {
  if (const auto own = names.find(type.base); own != names.end()) {
    const CType outer = type;
    type = own->second;
    type.pointers += outer.pointers;
    type.pointee_const = type.pointee_const || outer.pointee_const;
    type.reference = outer.reference;
    type.kept = outer.kept;
    type.fixed = outer.pointers > 0 ? outer.fixed : outer.fixed || type.fixed;
    return;
  }
  std::string name = without_std(type.base);
  for (const Alias& alias : kAliases) {
    if (name == alias.name) name = alias.means;
  }
  const auto found = cuda_source::find_cuda_type(name);
  if (!found || found->kind == cuda_source::CudaType::Kind::Void) return;
  type.base = name;
  type.dtype = found->kind == cuda_source::CudaType::Kind::Bool   ? tensor::DType::Bool
               : found->kind == cuda_source::CudaType::Kind::Byte ? tensor::DType::Uint8
                                                                  : found->dtype;
  type.size = found->size * found->lanes;
}

}  // namespace

std::string CType::text() const {
  return (pointee_const ? "const " : "") + base + std::string(static_cast<size_t>(pointers), '*') +
         (reference ? "&" : "");
}

bool is_type_word(const std::string& word) {
  return kQualifiers.count(word) > 0 || kIntegerWords.count(word) > 0 ||
         cuda_source::find_cuda_type(word) ||
         std::ranges::any_of(kAliases, [&](const Alias& one) { return word == one.name; });
}

std::optional<CType> read_type(const std::vector<cuda_source::Token>& tokens, size_t& at,
                               size_t last, const TypeNames& names) {
  const size_t start = at;
  CType type;
  std::vector<std::string> words;
  bool is_const = false, is_constexpr = false;
  for (; at < last && tokens[at].identifier(); ++at) {
    const std::string& text = tokens[at].text;
    if (kQualifiers.count(text)) {
      is_const = is_const || text == "const" || text == "constexpr";
      is_constexpr = is_constexpr || text == "constexpr";
      type.kept = type.kept || kLasting.count(text) > 0;
    } else if (kIntegerWords.count(text) && type.base.empty()) {
      words.push_back(text);
    } else if (text == "double" && !words.empty()) {
      type.base = "long double";
    } else if (words.empty() && type.base.empty()) {
      type.base = text;
      while (at + 2 < last && tokens[at + 1].is("::") && tokens[at + 2].identifier()) {
        type.base += "::" + tokens[at + 2].text;
        at += 2;
      }
      if (at + 1 < last && tokens[at + 1].is("<")) {
        const size_t end = cuda_source::behind_angles(tokens, at + 1, last);
        for (size_t i = at + 1; i < end; ++i) type.base += tokens[i].text;
        if (end > at + 1) at = end - 1;
      }
    } else {
      break;
    }
  }
  if (!words.empty()) type.base = integer_name(words);
  if (type.base.empty()) {
    at = start;
    return std::nullopt;
  }
  type.fixed = is_const;
  for (; at < last; ++at) {
    const std::string& text = tokens[at].text;
    if (text == "*") {
      type.pointee_const = type.pointers == 0 ? is_const : type.pointee_const;
      type.fixed = false;
      ++type.pointers;
    } else if (text == "&" || text == "&&") {
      type.reference = true;
    } else if (text == "const") {
      is_const = is_const || type.pointers == 0;
      type.fixed = true;
    } else if (kLasting.count(text) > 0) {
      type.kept = true;
    } else if (kQualifiers.count(text) == 0) {
      break;
    }
  }
  type.fixed = type.fixed || is_constexpr;
  find_base(type, names);
  return type;
}

std::vector<CParameter> read_parameters(const std::vector<cuda_source::Token>& tokens, size_t first,
                                        size_t last, const TypeNames& names) {
  std::vector<CParameter> out;
  size_t at = first;
  while (at < last) {
    CParameter one;
    one.line = tokens[at].line;
    one.column = tokens[at].column;
    if (auto type = read_type(tokens, at, last, names)) one.type = *type;
    if (at < last && tokens[at].identifier()) {
      one.name = tokens[at].text;
      one.line = tokens[at].line;
      one.column = tokens[at++].column;
    }
    int depth = 0;
    bool defaults = false;
    for (; at < last && (depth > 0 || !tokens[at].is(",")); ++at) {
      const std::string& text = tokens[at].text;
      if (text == "[" && depth == 0) ++one.type.pointers;
      if (text == "=" && depth == 0 && !defaults) {
        defaults = true;
        continue;
      }
      if (defaults) one.fallback.push_back(tokens[at]);
      depth += text == "(" || text == "[" || text == "{" || text == "<";
      depth -= text == ")" || text == "]" || text == "}" || text == ">";
    }
    ++at;
    if (!one.type.is_void() || !one.name.empty()) out.push_back(std::move(one));
  }
  return out;
}

}  // namespace kw::cuda_import
