// Functions that consist of others are shorter in Python than in C++, and the tracer can evaluate
// Python. The build parses the files of python/library (kw_embed_python), so that their use starts
// no process. Names and signatures are read from the text: it is faster than to read all trees. A
// row in Python gets its arguments as a row in C++ does: bound to the signature, of the annotated
// types, tensors as plain nodes. All its nodes have the origin and the place of the call. The cost:
// a function takes more time than in C++, some microseconds per operation.
#include "frontend/library_rows.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "core/text.h"
#include "frontend/cell.h"
#include "frontend/functions.h"
#include "frontend/statements.h"
#include "frontend/syntax.h"
#include "kLibraryFiles.inc"

namespace kw::frontend {
namespace {

/// The definitions of a file, from text such as `@op("F.x")`, `def x(input: Tensor):`.
void read_names(const char* file, std::string_view text, std::vector<LibraryRow>& all) {
  for (const std::string_view mark : {"\n@names(\"", "\n@op(\""}) {
    for (size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at)) {
      at += mark.size();
      const size_t start = text.find('\n', at) + 1, word = text.find(' ', start) + 1;
      const size_t open = text.find_first_of("(:", word);
      LibraryRow& one = all.emplace_back();
      one.names = text.substr(at, text.find('"', at) - at);
      one.file = file;
      one.word = text.substr(word, open - word);
      one.is_op = mark != "\n@names(\"";
      if (one.is_op) one.signature = text.substr(open + 1, text.find("):\n", open) - open - 1);
    }
  }
}

/// Read once and kept, because every trace of a task needs it.
Result<std::shared_ptr<const Source>> source_of(const std::string& file) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Source>> sources;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Source>& source = sources[file];
  for (const auto& one : kLibraryFiles) {
    if (source || !one.name || file != one.name) continue;
    auto read = std::make_shared<Source>();
    read->path = read->name = file;
    read->text = one.text;
    read->tree = KW_TRY(Json::parse(one.tree));
    source = std::move(read);
  }
  return source;
}

Result<Value> definition(TraceState& trace, const LibraryRow& one) {
  std::shared_ptr<Scope>& scope = trace.libraries[one.file];
  if (!scope) {
    const std::shared_ptr<const Source> source = KW_TRY(source_of(one.file));
    scope = std::make_shared<Scope>();
    Frame frame;
    frame.scope = scope;
    frame.library = source.get();
    trace.frames.push_back(&frame);
    const bool kept = std::exchange(trace.keeps_origin, true);
    auto flow = run_all(trace, source->tree["tree"]["body"]);
    trace.keeps_origin = kept;
    trace.frames.pop_back();
    if (!flow) return std::move(flow).error();
  }
  return scope->names.at(one.word);
}

/// Tensors get cells, as Python code expects them.
Value with_cells(const Value& value) {
  if (const auto* tensor = value.get<Tensor>()) return Value(new_tensor(tensor->node));
  const std::vector<Value>* items = items_of(value);
  if (!items) return value;
  std::vector<Value> all;
  for (const Value& item : *items) all.push_back(with_cells(item));
  return value.get<std::shared_ptr<List>>() ? make_list(std::move(all))
                                            : make_tuple(std::move(all));
}

}  // namespace

const std::vector<LibraryRow>& library_rows() {
  static const std::vector<LibraryRow> kAll = [] {
    std::vector<LibraryRow> all;
    for (const auto& one : kLibraryFiles) {
      if (one.name) read_names(one.name, one.text, all);
    }
    return all;
  }();
  return kAll;
}

Result<std::optional<Value>> library_definition(TraceState& trace, const std::string& name) {
  static const std::map<std::string, const LibraryRow*> kIndex = [] {
    std::map<std::string, const LibraryRow*> index;
    for (const LibraryRow& one : library_rows()) {
      for (std::string& each : split(one.names, ' ')) {
        if (!one.is_op) index.emplace(std::move(each), &one);
      }
    }
    return index;
  }();
  const auto found = kIndex.find(name);
  if (found == kIndex.end()) return std::optional<Value>();
  const Value value = KW_TRY(definition(trace, *found->second));
  if (const auto* cls = value.get<std::shared_ptr<Class>>()) (*cls)->library = name;
  return std::optional(value);
}

Result<Value> apply_row(TraceState& trace, const OpRow& row, Call& call) {
  if (!row.library) return row.apply(call);
  const Value function = KW_TRY(definition(trace, *row.library));
  Arguments arguments = KW_TRY(call.typed(row.library->signature));
  for (Value& one : arguments.positional) one = with_cells(one);
  for (auto& [name, one] : arguments.keywords) one = with_cells(one);
  const bool kept = std::exchange(trace.keeps_origin, true);
  const bool no_gradient = std::exchange(trace.no_gradient, false);
  auto result = invoke(trace, function, std::move(arguments));
  trace.keeps_origin = kept;
  trace.no_gradient = no_gradient;
  if (!result) return result;
  return plain(trace.graph, *result);
}

}  // namespace kw::frontend
