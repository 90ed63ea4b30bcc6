// Loads a PTX text: parses it, decodes every kernel and lists the problems together (at most 20),
// so that an author can fix them in one round. Problems name the line of the source, because few
// users read PTX. A failed parse gives no module, so SourceLines reads the .loc lines of the text
// itself. Limits on instructions and file bytes hold for all kernels together: each kernel has a
// copy of the functions it calls.
#include "vgpu/decoded_image.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include <fmt/core.h>

#include "core/text.h"
#include "ptx/parse.h"
#include "vgpu/address.h"
#include "vgpu/decode.h"

namespace kw::vgpu {
namespace {

constexpr size_t kMaxListed = 20;
// Limits for all kernels together: each has a copy of the functions it calls.
constexpr uint64_t kMostInstructions = uint64_t{1} << 23;
constexpr uint64_t kMostFileBytes = uint64_t{1} << 28;

std::string problem_text(const DecodeProblem& problem) {
  if (problem.place.line > 0)
    return fmt::format("{} at {}:{} (ptx line {})", problem.message, problem.file,
                       problem.place.line, problem.place.ptx_line);
  return fmt::format("{} (ptx line {})", problem.message, problem.place.ptx_line);
}

std::vector<std::string> words_of(std::string_view line) {
  std::istringstream in{std::string(line)};
  return {std::istream_iterator<std::string>(in), {}};
}

/// Finds the source line of a PTX line by the .loc and .file lines.
class SourceLines {
 public:
  explicit SourceLines(std::string_view text) : lines_(split_lines(text)) {
    for (const std::string_view line : lines_) {
      const std::vector<std::string> words = words_of(line);
      if (words.size() < 3 || words[0] != ".file") continue;
      const std::string name(words[2].substr(0, words[2].find_last_not_of(",\"") + 1));
      files_[words[1]] = name.substr(name.find_first_not_of('"'));
    }
  }

  DecodeProblem place(int ptx_line, std::string message) const {
    DecodeProblem problem;
    problem.message = std::move(message);
    problem.place.ptx_line = ptx_line;
    for (size_t at = std::min(lines_.size(), static_cast<size_t>(ptx_line)); at-- > 0;) {
      const std::vector<std::string> words = words_of(lines_[at]);
      if (words.size() < 3 || words[0] != ".loc") continue;
      const auto file = files_.find(words[1]);
      problem.file = file == files_.end() ? "" : file->second;
      problem.place.line = static_cast<int>(parse_int(words[2]).value_or(0));
      break;
    }
    return problem;
  }

 private:
  std::vector<std::string_view> lines_;
  std::map<std::string, std::string> files_;
};

// Adds the source line to each "ptx line N: …" of the parser's error.
Error unreadable(std::string_view text, const Error& error) {
  const SourceLines source(text);
  std::string message = "the virtual GPU cannot read this PTX:";
  for (const std::string_view problem : split_lines(error.message)) {
    constexpr std::string_view kStart = "ptx line ";
    const size_t colon = problem.find(": ");
    const auto line = problem.starts_with(kStart) && colon != std::string_view::npos
                          ? parse_int(problem.substr(kStart.size(), colon - kStart.size()))
                          : std::nullopt;
    if (!line) continue;
    message += "\n  " + problem_text(source.place(static_cast<int>(*line),
                                                  std::string(problem.substr(colon + 2))));
  }
  return input_error(message + "\n  hint: check the module's inline assembly");
}

// Fills in addresses inside an initialiser. Addresses of shared variables depend on the kernel and
// stay zero.
void patch(const ptx::Module& module, const ptx::Variable& variable, const AddressMap& map,
           std::byte* data) {
  for (const ptx::Variable::Patch& p : variable.patches) {
    uint64_t address = static_cast<uint64_t>(p.offset);
    if (p.function >= 0) address += map.function_address(p.function);
    if (p.variable >= 0) {
      const ptx::Space space = module.variables[p.variable].space;
      if (space != ptx::Space::Global && space != ptx::Space::Const) continue;
      address += map.variable_address(p.variable);
    }
    address = p.shift < 64 ? address >> p.shift : 0;
    if (p.at < 0 || p.bytes < 1 || p.bytes > 8 || p.at + p.bytes > variable.bytes) continue;
    std::memcpy(data + p.at, &address, static_cast<size_t>(p.bytes));
  }
}

int64_t constant_bytes(const ptx::Module& module) {
  int64_t total = 0;
  for (const ptx::Variable& variable : module.variables) {
    if (variable.space == ptx::Space::Const) total += variable.bytes;
  }
  return total;
}

std::set<int> used_variables(const Image& image) {
  std::set<int> used;
  for (const auto& [name, code] : image.kernels)
    used.insert(code.variables_used.begin(), code.variables_used.end());
  return used;
}

}  // namespace

Result<Image> load_image(std::string_view text) {
  Image image;
  Result<ptx::Module> module = ptx::parse(text);
  if (!module) return unreadable(text, module.error());
  image.module = std::move(module).value();
  if (image.module.variables.size() >= kMaxRegions / 2)
    return input_error("the PTX has too many variables");
  std::vector<std::string> problems;
  std::set<std::string> known;
  bool any_entry = false;
  uint64_t instructions = 0, file_bytes = 0;
  const int64_t constants = constant_bytes(image.module);
  for (size_t f = 0; f < image.module.functions.size(); ++f) {
    const ptx::Function& function = image.module.functions[f];
    if (!function.is_entry || function.is_declaration) continue;
    any_entry = true;
    Decoded decoded = decode(image.module, static_cast<int>(f));
    instructions += decoded.visited;
    file_bytes += decoded.code.file_bytes;
    decoded.code.constant_bytes = constants;
    if (instructions > kMostInstructions || file_bytes > kMostFileBytes)
      return input_error("the kernels of this PTX, with all they call, are too large together");
    for (const DecodeProblem& problem : decoded.problems) {
      std::string line = problem_text(problem);
      if (known.insert(line).second) problems.push_back(std::move(line));
    }
    image.kernels.emplace(function.name, std::move(decoded.code));
  }
  if (!any_entry) return input_error("the PTX holds no kernel (.entry)");
  if (problems.empty()) return image;
  std::string message = "the virtual GPU cannot run this image:";
  for (size_t i = 0; i < problems.size() && i < kMaxListed; ++i) message += "\n  " + problems[i];
  if (problems.size() > kMaxListed)
    message += fmt::format("\n  … and {} more", problems.size() - kMaxListed);
  return input_error(message);
}

int Image::registers_of(const std::string& entry) const {
  const auto found = registers.find(entry);
  return found == registers.end() ? -1 : found->second;
}

uint32_t first_buffer_region(const Image& image) {
  return kFirstRegion + static_cast<uint32_t>(image.module.variables.size());
}

uint64_t variable_bytes(const Image& image) {
  constexpr uint64_t kCopies = 4;  // content, content before the run, a stamp of two words per word
  uint64_t total = 0;
  for (const int index : used_variables(image))
    total += kCopies * static_cast<uint64_t>(image.module.variables[index].bytes);
  return total;
}

void add_variables(const Image& image, Regions& regions) {
  const std::set<int> used = used_variables(image);
  for (const int index : used) {
    const ptx::Variable& variable = image.module.variables[index];
    regions.skip_to(kFirstRegion + static_cast<uint32_t>(index));
    RegionInfo info;
    info.name = source_name(variable.name);
    info.variable = index;
    info.element_bytes = std::max(1, ptx::type_size(variable.type));
    info.elements = variable.bytes / info.element_bytes;
    regions.add(std::move(info), static_cast<uint64_t>(variable.bytes));
    MemoryRegion& region = regions.row(kFirstRegion + static_cast<uint32_t>(index));
    const size_t given = std::min(variable.init.size(), static_cast<size_t>(variable.bytes));
    if (given != 0) std::memcpy(region.data, variable.init.data(), given);
    patch(image.module, variable, regions.map(), region.data);
    region.constant = variable.space == ptx::Space::Const;
    region.writable = region.tracked = !region.constant;
  }
  regions.skip_to(first_buffer_region(image));
}

}  // namespace kw::vgpu
