// Kernels compiled apart must become one image again. Cubins are put into a pack, which the driver
// loads one by one. PTX is joined as text: each part has its own table of files, its own debug
// strings, and lines of its slice, and all of these are renumbered. Declarations beside the kernels
// (tables of mathematical functions) come with every part that needs them and are kept once.
// Linking with nvlink would need one more tool and relocatable code. The cost: text that is not
// understood, a .func, or two different declarations of one name mean that the module is compiled
// whole.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "compile/slices.h"
#include "core/text.h"
#include "ports/image_pack.h"

namespace kw::compile {
namespace {

constexpr std::string_view kStrings = "$L__info_string";

std::vector<std::string> line_words(std::string_view line) {
  std::vector<std::string> words;
  for (size_t at = 0; at < line.size();) {
    const size_t begin = line.find_first_not_of(" \t", at);
    if (begin == std::string_view::npos) break;
    at = std::min(line.find_first_of(" \t", begin), line.size());
    words.emplace_back(line.substr(begin, at - begin));
  }
  return words;
}

/// The first word of a declaration that is a name.
std::string declared_name(std::string_view line) {
  for (const std::string& word : line_words(line)) {
    const bool name = word[0] == '_' || word[0] == '$' || word[0] == '%' || std::isalpha(word[0]);
    if (name) return word.substr(0, word.find_first_of("[=(;"));
  }
  return "";
}

class PtxJoiner {
 public:
  explicit PtxJoiner(std::string_view file_name) : file_name_(file_name) {}

  bool add(std::string_view ptx, const std::vector<int>& lines) {
    lines_ = &lines;
    ++part_;
    read_files(ptx);
    std::string item;
    int depth = 0;
    bool strings = false;
    for (const std::string_view line : split_lines(ptx)) {
      const std::string_view plain = trim(line);
      if (depth == 0 && item.empty()) {
        if (plain.empty() || plain.starts_with("//") || plain.starts_with(".file")) continue;
        if (is_header(plain)) {
          if (!header_line(plain)) return false;
          continue;
        }
        strings = plain.starts_with(".section");
        if (strings && plain.find(".debug_str") == std::string_view::npos) return false;
      }
      item += rewritten(line, plain) + "\n";
      if (plain.starts_with("//")) continue;
      depth += static_cast<int>(std::ranges::count(plain, '{') - std::ranges::count(plain, '}'));
      const bool closed = plain.ends_with('}') || plain.ends_with(';');
      if (depth != 0 || !closed) continue;
      if (!(strings ? string_section(item) : keep(item))) return false;
      item.clear();
    }
    return depth == 0 && item.empty();
  }

  std::string text() const {
    std::string out = "//\n// Joined of kernels compiled one by one\n//\n\n";
    for (const auto& [directive, line] : header_) out += line + "\n";
    out += "\n" + body_;
    for (size_t i = 0; i < files_.size(); ++i)
      out += fmt::format("\t.file\t{} {}\n", i + 1, files_[i]);
    if (!strings_.empty()) out += "\t.section\t.debug_str\n\t{\n" + strings_ + "\n\t}\n";
    return out;
  }

 private:
  static bool is_header(std::string_view line) {
    return line.starts_with(".version") || line.starts_with(".target") ||
           line.starts_with(".address_size");
  }

  // In PTX's own order: version, target, address size.
  bool header_line(std::string_view line) {
    const std::string word = line_words(line).front();
    const auto known =
        std::ranges::find(header_, word, &std::pair<std::string, std::string>::first);
    if (known != header_.end()) return known->second == line;
    header_.emplace_back(word, std::string(line));
    return true;
  }

  void read_files(std::string_view ptx) {
    file_of_.clear();
    own_.clear();
    for (const std::string_view line : split_lines(ptx)) {
      const std::string_view plain = trim(line);
      if (!plain.starts_with(".file")) continue;
      const std::vector<std::string> words = line_words(plain);
      const size_t name_at = plain.find('"');
      if (words.size() < 3 || name_at == std::string_view::npos) continue;
      const std::string name(plain.substr(name_at));
      auto known = std::ranges::find(files_, name);
      if (known == files_.end()) known = files_.insert(files_.end(), name);
      file_of_[words[1]] = std::to_string(known - files_.begin() + 1);
      if (name.starts_with("\"" + std::string(file_name_) + "\"")) own_ = words[1];
    }
  }

  std::string line_of(const std::string& file, const std::string& line) const {
    const auto number = parse_int(line);
    const bool ours =
        file == own_ && number && *number >= 1 && static_cast<size_t>(*number) <= lines_->size();
    return ours ? std::to_string((*lines_)[static_cast<size_t>(*number) - 1]) : line;
  }

  std::string file_number(const std::string& file) const {
    const auto known = file_of_.find(file);
    return known == file_of_.end() ? file : known->second;
  }

  /// Rewrites `.loc FILE LINE COLUMN[, function_name LABEL[+N], inlined_at FILE LINE COLUMN]` and
  /// the labels it uses.
  std::string rewritten(std::string_view line, std::string_view plain) const {
    if (plain.starts_with(".loc")) {
      std::vector<std::string> words = line_words(plain);
      for (size_t i = 0; i + 2 < words.size(); ++i) {
        if (i != 0 && words[i] != "inlined_at") continue;
        words[i + 2] = line_of(words[i + 1], words[i + 2]);
        words[i + 1] = file_number(words[i + 1]);
      }
      return "\t" + replace_all(join(words, " "), kStrings, own_strings());
    }
    if (plain.starts_with(kStrings)) return replace_all(std::string(line), kStrings, own_strings());
    return std::string(line);
  }

  std::string own_strings() const { return fmt::format("$L__info_{}_string", part_); }

  bool keep(const std::string& item) {
    const std::string_view line = trim(item);
    const bool entry = line.substr(0, line.find('(')).find(".entry") != std::string_view::npos;
    const bool shared_declaration = line.starts_with(".extern");
    if (!entry && !shared_declaration && line.find(".func") != std::string_view::npos) return false;
    const auto [known, fresh] = items_.emplace(entry ? std::string(line.substr(0, line.find('(')))
                                               : shared_declaration ? std::string(line)
                                                                    : declared_name(line),
                                               item);
    if (!fresh) return !entry && known->second == item;
    body_ += item + "\n";
    return true;
  }

  bool string_section(const std::string& item) {
    const size_t open = item.find('{'), close = item.rfind('}');
    if (open == std::string::npos || close == std::string::npos) return false;
    strings_ +=
        (strings_.empty() ? "" : "\n") + std::string(trim(item.substr(open + 1, close - open - 1)));
    return true;
  }

  std::string_view file_name_;
  const std::vector<int>* lines_ = nullptr;
  int part_ = 0;
  std::string own_;                             // number of the module's file in this part
  std::map<std::string, std::string> file_of_;  // this part's numbers of files -> ours
  std::vector<std::string> files_;
  std::vector<std::pair<std::string, std::string>> header_;
  std::map<std::string, std::string> items_;
  std::string body_, strings_;
};

std::optional<std::string> joined_image(const ports::CompileRequest& whole,
                                        const std::vector<Slice>& slices,
                                        const std::vector<ports::Compiled>& parts) {
  if (whole.image == ports::ImageKind::Cubin) {
    std::vector<std::string> images;
    for (const ports::Compiled& part : parts) images.push_back(part.image);
    return ports::pack_images(images);
  }
  PtxJoiner joiner(whole.file_name);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!joiner.add(parts[i].image, slices[i].lines)) return std::nullopt;
  }
  return joiner.text();
}

void add_messages(const ports::Compiled& part, const std::vector<int>& lines,
                  std::vector<ports::CompileMessage>& messages) {
  for (ports::CompileMessage message : part.messages) {
    if (message.line >= 1 && static_cast<size_t>(message.line) <= lines.size())
      message.line = lines[static_cast<size_t>(message.line) - 1];
    const auto same = [&](const ports::CompileMessage& other) {
      return other.line == message.line && other.text == message.text;
    };
    if (std::ranges::none_of(messages, same)) messages.push_back(std::move(message));
  }
}

}  // namespace

std::optional<ports::Compiled> joined(const ports::CompileRequest& whole,
                                      const std::vector<Slice>& slices,
                                      const std::vector<ports::Compiled>& parts) {
  std::optional<std::string> image = joined_image(whole, slices, parts);
  if (!image) return std::nullopt;
  ports::Compiled made;
  made.kind = whole.image;
  made.image = std::move(*image);
  made.target = parts.front().target;
  made.compiler = parts.front().compiler;
  made.from_cache = std::ranges::all_of(parts, &ports::Compiled::from_cache);
  std::map<std::string, const ports::CompiledKernel*> kernels;
  for (size_t i = 0; i < parts.size(); ++i) {
    made.seconds += parts[i].seconds;
    add_messages(parts[i], slices[i].lines, made.messages);
    for (const ports::CompiledKernel& kernel : parts[i].kernels)
      kernels[kernel.expression] = &kernel;
  }
  for (const std::string& expression : whole.kernels) {
    const auto found = kernels.find(expression);
    if (found == kernels.end()) return std::nullopt;
    made.kernels.push_back(*found->second);
  }
  return made;
}

}  // namespace kw::compile
