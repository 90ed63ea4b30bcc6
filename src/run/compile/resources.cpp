// The judge needs each kernel's registers, shared memory and spills. For a cubin, ptxas -v prints
// them. For PTX there is no such report, so the text is scanned: declarations of shared and local
// memory, launch bounds, and which functions a kernel can reach by name. Registers stay unknown
// there, because only ptxas assigns them.
// The full PTX parser would be exact, but it rejects text that it does not know; this scan works on
// any text. The cost: it can count too much, since a name that occurs in a body counts as a use.
#include "compile/resources.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "core/ascii.h"
#include "core/text.h"

namespace kw::compile {
namespace {

using ports::KernelResources;

bool in_name(char c) {
  return is_name_char(c) || c == '$';
}

/// The number in front of `what`, as in "28 bytes smem"; -1 when it is missing.
int64_t number_before(std::string_view line, std::string_view what) {
  const size_t at = line.find(what);
  if (at == std::string_view::npos || at == 0) return -1;
  size_t end = at;
  while (end > 0 && line[end - 1] == ' ') --end;
  size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1])) != 0) --begin;
  return parse_int(line.substr(begin, end - begin)).value_or(-1);
}

int64_t constant_bytes(std::string_view line) {
  int64_t total = 0;
  bool any = false;
  for (const std::string& part : split(line, ',')) {
    if (const int64_t bytes = number_before(part, "bytes cmem["); bytes >= 0) {
      total += bytes;
      any = true;
    }
  }
  return any ? total : -1;
}

std::string quoted(std::string_view line) {
  const size_t open = line.find('\'');
  const size_t close = open == std::string_view::npos ? open : line.find('\'', open + 1);
  return close == std::string_view::npos ? ""
                                         : std::string(line.substr(open + 1, close - open - 1));
}

/// One function of a PTX text.
struct PtxFunction {
  std::string name;
  bool entry = false;
  std::string_view head, body;
  std::set<std::string> words;  // every identifier in the body
};

std::set<std::string> words_in(std::string_view text) {
  std::set<std::string> words;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && in_name(text[end])) ++end;
    if (end > i && std::isdigit(static_cast<unsigned char>(text[i])) == 0)
      words.emplace(text.substr(i, end - i));
    i = std::max(end, i + 1);
  }
  return words;
}

size_t matching_brace(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return i;
  }
  return text.size();
}

std::string name_before_parenthesis(std::string_view head, size_t from) {
  size_t open = head.find('(', from);
  // ".func (.param .b32 r) name(": the first pair holds the result.
  const std::string_view between =
      head.substr(from, open == std::string_view::npos ? 0 : open - from);
  if (open != std::string_view::npos && trim(between).empty()) {
    from = head.find(')', open);
    if (from == std::string_view::npos) return "";
    ++from;
    open = head.find('(', from);
  }
  if (open == std::string_view::npos) open = head.size();
  size_t begin = from;
  while (begin < open && !in_name(head[begin])) ++begin;
  size_t end = begin;
  while (end < open && in_name(head[end])) ++end;
  return std::string(head.substr(begin, end - begin));
}

std::vector<PtxFunction> functions_of(std::string_view ptx) {
  std::vector<PtxFunction> functions;
  for (size_t at = 0; at < ptx.size();) {
    const size_t entry = ptx.find(".entry", at), func = ptx.find(".func", at);
    const size_t begin = std::min(entry, func);
    if (begin == std::string_view::npos) break;
    const size_t open = ptx.find('{', begin), semicolon = ptx.find(';', begin);
    if (open == std::string_view::npos) break;
    at = begin + 1;
    if (semicolon < open) continue;  // a declaration
    const size_t close = matching_brace(ptx, open);
    PtxFunction function;
    function.entry = begin == entry;
    function.head = ptx.substr(begin, open - begin);
    function.body = ptx.substr(open, close - open);
    function.name = name_before_parenthesis(function.head, function.entry ? 6 : 5);
    function.words = words_in(function.body);
    functions.push_back(std::move(function));
    at = close;
  }
  return functions;
}

/// Bytes of "... .shared .align 4 .b8 name[28];"; `name` gets the name. Unsized (dynamic) arrays
/// give 0.
int64_t shared_declaration(std::string_view line, std::string* name) {
  static constexpr struct {
    std::string_view type;
    int64_t bytes;
  } kTypes[] = {{".b8", 1},  {".u8", 1},  {".s8", 1},  {".b16", 2},  {".u16", 2}, {".s16", 2},
                {".f16", 2}, {".b32", 4}, {".u32", 4}, {".s32", 4},  {".f32", 4}, {".b64", 8},
                {".u64", 8}, {".s64", 8}, {".f64", 8}, {".b128", 16}};
  for (const auto& type : kTypes) {
    const size_t at = line.find(std::string(type.type) + " ");
    if (at == std::string_view::npos) continue;
    std::string_view rest = trim(line.substr(at + type.type.size()));
    size_t end = 0;
    while (end < rest.size() && in_name(rest[end])) ++end;
    *name = std::string(rest.substr(0, end));
    int64_t bytes = type.bytes;
    for (rest = rest.substr(end); rest.starts_with('['); rest = rest.substr(rest.find(']') + 1)) {
      if (rest.find(']') == std::string_view::npos) return 0;
      bytes *= parse_int(trim(rest.substr(1, rest.find(']') - 1))).value_or(0);
    }
    return bytes;
  }
  return 0;
}

/// Shared variables by name. Those inside a function count too: compilers emit unique names.
std::map<std::string, int64_t> shared_variables(std::string_view ptx) {
  std::map<std::string, int64_t> variables;
  for (std::string_view line : split_lines(ptx)) {
    line = trim(line);
    if (!line.starts_with(".")) continue;
    const size_t at = line.find(".shared ");
    if (at == std::string_view::npos || line.find(".extern") != std::string_view::npos) continue;
    std::string name;
    const int64_t bytes = shared_declaration(line.substr(at), &name);
    if (!name.empty()) variables[name] = bytes;
  }
  return variables;
}

int64_t product_after(std::string_view head, std::string_view directive) {
  const size_t at = head.find(directive);
  if (at == std::string_view::npos) return -1;
  int64_t product = 1;
  std::string_view rest = head.substr(at + directive.size());
  rest = rest.substr(0, std::min(rest.find('.'), rest.find('\n')));
  for (const std::string& part : split(rest, ',')) {
    product *= parse_int(trim(part)).value_or(1);
  }
  return product;
}

int64_t local_bytes(std::string_view body) {
  int64_t total = 0;
  for (std::string_view line : split_lines(body)) {
    line = trim(line);
    std::string name;
    if (line.starts_with(".local ")) total += shared_declaration(line, &name);
  }
  return total;
}

/// All functions that a function can reach by name, itself included.
std::set<size_t> reachable(const std::vector<PtxFunction>& functions, size_t start) {
  std::set<size_t> seen{start};
  std::vector<size_t> open{start};
  while (!open.empty()) {
    const size_t at = open.back();
    open.pop_back();
    for (size_t i = 0; i < functions.size(); ++i) {
      if (functions[at].words.contains(functions[i].name) && seen.insert(i).second)
        open.push_back(i);
    }
  }
  return seen;
}

}  // namespace

std::map<std::string, KernelResources> parse_ptxas_report(std::string_view log) {
  std::map<std::string, KernelResources> report;
  std::string entry, properties_of;
  for (std::string_view line : split_lines(log)) {
    if (line.find("Compiling entry function") != std::string_view::npos) {
      entry = quoted(line);
      report[entry].static_shared = 0;
    } else if (const size_t at = line.find("Function properties for ");
               at != std::string_view::npos) {
      properties_of = std::string(trim(line.substr(at + 24)));
    } else if (line.find("bytes stack frame") != std::string_view::npos && properties_of == entry &&
               !entry.empty()) {
      KernelResources& resources = report[entry];
      resources.stack_bytes = number_before(line, "bytes stack frame");
      resources.local_bytes = resources.stack_bytes;
      resources.spill_store_bytes = number_before(line, "bytes spill stores");
      resources.spill_load_bytes = number_before(line, "bytes spill loads");
    } else if (line.find("Used ") != std::string_view::npos && !entry.empty()) {
      KernelResources& resources = report[entry];
      resources.registers = static_cast<int>(number_before(line, "registers"));
      resources.static_shared = std::max<int64_t>(0, number_before(line, "bytes smem"));
      resources.constant_bytes = constant_bytes(line);
      entry.clear();
    }
  }
  return report;
}

std::map<std::string, KernelResources> scan_ptx(std::string_view ptx) {
  std::map<std::string, KernelResources> report;
  const std::vector<PtxFunction> functions = functions_of(ptx);
  const std::map<std::string, int64_t> shared = shared_variables(ptx);
  for (size_t i = 0; i < functions.size(); ++i) {
    if (!functions[i].entry) continue;
    KernelResources& resources = report[functions[i].name];
    resources.static_shared = 0;
    resources.local_bytes = 0;
    std::set<std::string> counted;
    for (size_t at : reachable(functions, i)) {
      resources.local_bytes += local_bytes(functions[at].body);
      for (const auto& [name, bytes] : shared) {
        if (functions[at].words.contains(name) && counted.insert(name).second)
          resources.static_shared += bytes;
      }
    }
    const int64_t maximum = product_after(functions[i].head, ".maxntid");
    const int64_t required = product_after(functions[i].head, ".reqntid");
    resources.max_threads = static_cast<int>(required >= 0 ? required : maximum);
  }
  return report;
}

}  // namespace kw::compile
