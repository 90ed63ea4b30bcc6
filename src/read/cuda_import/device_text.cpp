// The problem: a foreign file mixes host code, which a kernel module must not have, with device
// code. The choice: mark the bytes of host functions, host variables, host macros and host headers
// as erased, and copy the rest. The alternative, printing device code from a syntax tree, would
// change text that compilers and users see. The cost: an item belongs to the host by its form and
// the words in it, so an unusual one may remain; compiling then refuses it.
#include "cuda_import/device_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/text.h"
#include "cuda_source/source_rules.h"

namespace kw::cuda_import {

namespace {

const std::vector<std::string> kHostHeaders = split(
    "iostream fstream sstream iomanip vector string map set unordered_map unordered_set deque "
    "list queue chrono random memory thread mutex atomic future numeric stdexcept exception "
    "cstdlib stdlib.h ctime time.h sys/time.h iterator optional variant span string_view cerrno "
    "errno.h unistd.h cuda_profiler_api.h cublas_v2.h cublas.h cublasLt.h cudnn.h cufft.h "
    "cusparse.h cusolverDn.h curand.h nvtx3/nvToolsExt.h nvToolsExt.h driver_types.h "
    "helper_cuda.h helper_functions.h bits/stdc++.h",
    ' ');

const std::set<std::string> kHostWords = {"exit",   "abort",  "stderr", "cerr",
                                          "cout",   "fopen",  "vector", "string",
                                          "malloc", "getenv", "chrono", "ostream"};

class DeviceTextReader {
 public:
  DeviceTextReader(const HostSource& source, const std::string& launcher)
      : source_(source), launcher_(launcher), erased_(source.text.size() + 1, false) {}

  DeviceText run() {
    for (const cuda_source::Directive& directive : source_.lexed.directives)
      take_directive(directive);
    for (const Item& item : source_.outline.items) take_item(item);
    for (const size_t token : source_.outline.linkage_tokens) erase(token, token + 1);
    write();
    return std::move(out_);
  }

 private:
  void erase_bytes(size_t begin, size_t end) {
    for (size_t i = begin; i < std::min(end, erased_.size()); ++i) erased_[i] = true;
  }
  void erase(size_t first, size_t last) {
    if (first >= last || last > source_.tokens.size()) return;
    erase_bytes(source_.tokens[first].begin, source_.tokens[last - 1].end);
  }

  void problem(const cuda_source::SourceToken& where, std::string message, std::string hint) {
    out_.problems.push_back({where.line, where.column, 1, std::move(message), std::move(hint)});
  }

  bool only_host(size_t first, size_t last, bool standard_types) const {
    for (size_t i = first; i < last; ++i) {
      const cuda_source::Token& token = source_.tokens[i];
      if (!token.identifier()) continue;
      if (!cuda_source::refused_identifier(token.text).empty()) return true;
      if (standard_types && kHostWords.count(token.text)) return true;
    }
    return false;
  }

  void take_directive(const cuda_source::Directive& directive) {
    const cuda_source::SourceToken& hash = source_.lexed.tokens[directive.first];
    if (directive.name == "include") return sift_include(directive);
    if (directive.name != "define") return;
    for (size_t i = directive.first; i < directive.first + directive.count; ++i) {
      const std::string& text = source_.lexed.tokens[i].text;
      const bool host = !cuda_source::refused_identifier(text).empty() || kHostWords.count(text) ||
                        text == "cudaGetErrorString" || text == "cudaSuccess";
      if (host) return erase_bytes(hash.begin, directive.end);
    }
  }

  void sift_include(const cuda_source::Directive& directive) {
    const cuda_source::SourceToken& hash = source_.lexed.tokens[directive.first];
    const size_t end = directive.end;
    std::string_view line = trim(source_.text.substr(hash.begin, end - hash.begin));
    const size_t open = line.find_first_of("<\"");
    const size_t close =
        open == std::string_view::npos ? open : line.find(line[open] == '<' ? '>' : '"', open + 1);
    if (close == std::string_view::npos)
      return problem(hash, "'#include' must name a header literally", "");
    const std::string header(line.substr(open + 1, close - open - 1));
    if (header == "cub/cub.cuh" || header.starts_with("cub/device/"))
      return problem(hash, fmt::format("header <{}> brings host code", header),
                     "include what kernels use, e.g. <cub/block/block_reduce.cuh>");
    if (cuda_source::header_allowed(header)) {
      if (line[open] == '"') {
        replaced_[hash.line] = "#include <" + header + ">";
        out_.notes.push_back(fmt::format("line {}: \"{}\" became <{}>", hash.line, header, header));
      }
      keeps_standard_ = keeps_standard_ || header.find('.') == std::string::npos;
      return;
    }
    if (std::ranges::count(kHostHeaders, header) > 0) return erase_bytes(hash.begin, end);
    const bool declares = header.substr(0, header.rfind('.')) == launcher_ && !launcher_.empty();
    if (line[open] == '"' && declares) {
      out_.notes.push_back(fmt::format("line {}: \"{}\" was left out", hash.line, header));
      return erase_bytes(hash.begin, end);
    }
    if (line[open] == '"')
      return problem(hash, fmt::format("the file includes \"{}\"", header),
                     "a kernel module is one file: write what it needs into it");
    problem(hash, fmt::format("header <{}> is not available to kernel modules", header),
            "the headers that are: docs/kernel-module.md, 'The device code'");
  }

  void take_item(const Item& item) {
    using Kind = Item::Kind;
    bool compiles_anywhere = false;
    for (size_t i = item.first; i < item.parameters_first; ++i)
      compiles_anywhere = compiles_anywhere || source_.tokens[i].is("constexpr");
    const bool host_function = item.kind == Kind::Host && !compiles_anywhere;
    const bool host_variable = item.kind == Kind::Variable && !item.on_device &&
                               (!item.is_constexpr || only_host(item.first, item.last, true));
    const bool host_type = item.kind == Kind::Type && only_host(item.first, item.last, true);
    const bool uses_std = item.kind == Kind::Type && item.last >= item.first + 3 &&
                          source_.tokens[item.first].is("using") &&
                          source_.tokens[item.first + 1].is("namespace") &&
                          source_.tokens[item.first + 2].is("std") && !keeps_standard_;
    if (host_function || host_variable || host_type || uses_std || item.kind == Kind::Prototype) {
      erase(item.first, item.last);
      return;
    }
    if (!item.linkage) return;
    erase(*item.linkage, *item.linkage + 2);
    erase_blank_behind(source_.tokens[*item.linkage + 1].end);
    out_.notes.push_back(
        fmt::format("line {}: 'extern \"C\"' was left out: kernels have C++ linkage",
                    source_.tokens[*item.linkage].line));
  }

  void erase_blank_behind(size_t at) {
    while (at < source_.text.size() && source_.text[at] == ' ') erased_[at++] = true;
  }

  // Drops lines that erasing left empty, and the blank lines that would then double.
  void write() {
    size_t begin = 0;
    int number = 0;
    bool gap = true, blank_before = true;
    while (begin < source_.text.size()) {
      const size_t end = std::min(source_.text.find('\n', begin), source_.text.size());
      ++number;
      std::string line;
      bool touched = false;
      for (size_t i = begin; i < end; ++i) {
        touched = touched || erased_[i];
        if (!erased_[i]) line += source_.text[i];
      }
      begin = end + 1;
      if (const auto other = replaced_.find(number); other != replaced_.end()) line = other->second;
      const bool blank = trim(line).empty();
      gap = gap || (touched && blank);
      if ((touched && blank) || (blank && gap && blank_before)) continue;
      gap = false;
      blank_before = blank;
      out_.text += line + "\n";
      out_.lines.push_back(number);
    }
    while (out_.text.ends_with("\n\n")) {
      out_.text.pop_back();
      out_.lines.pop_back();
    }
  }

  const HostSource& source_;
  const std::string& launcher_;
  std::vector<bool> erased_;
  std::map<int, std::string> replaced_;
  bool keeps_standard_ = false;
  DeviceText out_;
};

}  // namespace

DeviceText device_text(const HostSource& source, const std::string& launcher) {
  return DeviceTextReader(source, launcher).run();
}

}  // namespace kw::cuda_import
