#include "torch_worker/torch_neighbours.h"

#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "core/ascii.h"
#include "core/text.h"
#include "os/inside.h"

namespace kw::torch_worker {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostFileBytes = 1 << 20;
constexpr size_t kMostFiles = 256;

bool is_name(std::string_view word) {
  if (word.empty() || (word[0] >= '0' && word[0] <= '9')) return false;
  for (const char c : word) {
    const bool plain = is_name_char(c) || (c & 0x80) != 0;
    if (!plain) return false;
  }
  return true;
}

/// Returns "a/b" for "a.b". Every leading dot but the first goes one folder up from `package`.
/// Empty when it is not the name of a module.
std::string path_of(std::string_view dotted, const fs::path& package) {
  fs::path at;
  size_t dots = 0;
  while (dots < dotted.size() && dotted[dots] == '.') ++dots;
  if (dots > 0) at = package;
  for (size_t i = 1; i < dots; ++i) at = at.parent_path();
  dotted.remove_prefix(dots);
  if (dotted.empty()) return at.string();
  for (const std::string& part : split(dotted, '.')) {
    if (!is_name(part)) return "";
    at /= part;
  }
  return at.string();
}

std::string_view first_word(std::string_view text) {
  text = trim(text);
  return text.substr(0, text.find_first_of(" \t;#("));
}

/// The modules that a file's import statements name, as paths without an extension. Names after
/// `from X import` may be modules too; those that are not have no file.
std::vector<std::string> named_modules(const std::string& text, const fs::path& package) {
  std::vector<std::string> modules;
  for (const std::string_view whole : split_lines(text)) {
    const std::string_view line = trim(whole);
    const bool from = line.starts_with("from ");
    if (!from && !line.starts_with("import ")) continue;
    const std::string_view rest = line.substr(from ? 5 : 7);
    const size_t import = from ? rest.find(" import ") : std::string_view::npos;
    const std::string base = from ? path_of(first_word(rest), package) : "";
    if (from) modules.push_back(base);
    const std::string_view names = from && import != std::string_view::npos
                                       ? rest.substr(import + 8)
                                       : (from ? std::string_view() : rest);
    for (const std::string& name : split(names, ',')) {
      const std::string_view word = first_word(replace_all(name, "(", ""));
      if (!from) modules.push_back(path_of(word, package));
      if (from && is_name(word)) modules.push_back((fs::path(base) / word).string());
    }
  }
  return modules;
}

class Collector {
 public:
  explicit Collector(const std::string& reference)
      : folder_(fs::absolute(reference).parent_path().string()) {}

  Json collect(const std::string& text) {
    follow(text, "");
    while (!open_.empty()) {
      const std::string file = open_.front();
      open_.pop_front();
      follow(texts_[file].as_string(), fs::path(file).parent_path());
    }
    return texts_;
  }

 private:
  void follow(const std::string& text, const fs::path& package) {
    for (const std::string& module : named_modules(text, package)) {
      if (module.empty()) continue;
      // Importing a.b.c runs a/__init__.py and a/b/__init__.py first.
      for (fs::path at = module; !at.empty(); at = at.parent_path())
        take((at / "__init__.py").string());
      take(module + ".py");
    }
  }

  void take(const std::string& file) {
    if (texts_.contains(file) || texts_.members().size() >= kMostFiles) return;
    const Result<std::string> text = os::read_inside(folder_, file, kMostFileBytes);
    if (!text) return;
    texts_.set(file, *text);
    open_.push_back(file);
  }

  const std::string folder_;
  Json texts_ = Json::object();
  std::deque<std::string> open_;  // files whose own imports were not read yet
};

}  // namespace

Json imported_neighbours(const TorchSource& source) {
  if (source.path.empty()) return Json::object();
  return Collector(source.path).collect(source.text);
}

}  // namespace kw::torch_worker
