// Agents need documents, methods, reports and kernels without guessing file names. So each has a
// URI that begins with kernelwright://. Documents are compiled into the program. The catalogue and
// runs come from our own commands, run in processes like any tool, so that the answer is the same
// as on the command line.
// Reading run folders here would be faster, but their layout would be known in two places. The
// cost: resources/list starts a command for the newest 50 runs. Parts of a URI may hold only
// letters, digits, '_', '-' and '.', because they become arguments of commands.
#include "mcp/resources.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/ascii.h"
#include "core/text.h"
#include "kDocs.inc"
#include "kSkill.inc"
#include "os/files.h"

namespace kw::mcp {
namespace {

constexpr std::string_view kScheme = "kernelwright://";
constexpr uint64_t kMostKernel = uint64_t{4} << 20;
constexpr int kNewestRuns = 50;
constexpr const char* kMarkdown = "text/markdown";
constexpr const char* kJsonType = "application/json";
constexpr const char* kCuda = "text/x-cuda";

struct TemplateRow {
  const char* uri;
  const char* name;
  const char* title;
  const char* about;
  const char* type;
};
constexpr TemplateRow kTemplates[] = {
    {"kernelwright://docs/{name}", "doc", "Document", "one of the program's documents", kMarkdown},
    {"kernelwright://catalog/{id}", "method", "Method", "everything about one optimisation method",
     kJsonType},
    {"kernelwright://runs/{run}/report", "run_report", "Report of a run",
     "report.json of a synthesis", kJsonType},
    {"kernelwright://runs/{run}/kernel", "run_kernel", "Kernel of a run",
     "the kernel module it shipped", kCuda},
    {"kernelwright://runs/{run}/candidates/{candidate}", "run_candidate", "Candidate of a run",
     "the text of one candidate's kernel module", kCuda},
    {"kernelwright://jobs/{job}", "job", "Result of a job", "the full result", kJsonType},
};

std::string stem(const std::string& file) {
  return file.ends_with(".md") ? file.substr(0, file.size() - 3) : file;
}

/// "# The command line" -> "The command line".
std::string heading(const char* text) {
  const std::vector<std::string_view> lines = split_lines(text);
  for (const std::string_view line : lines) {
    if (line.starts_with("# ")) return std::string(line.substr(2));
  }
  return "";
}

Json resource_row(const std::string& path, const std::string& title, const std::string& about,
                  const char* type, bool titles) {
  Json row = Json::object();
  row.set("uri", std::string(kScheme) + path).set("name", path);
  if (titles && !title.empty()) row.set("title", title);
  if (!about.empty()) row.set("description", about);
  return row.set("mimeType", type);
}

const char* type_of(const std::string& name) {
  if (name.ends_with(".json")) return kJsonType;
  return name.ends_with(".cu") ? kCuda : kMarkdown;
}

Error unknown(const std::string& what) { return input_error("there is no resource " + what); }

template <typename Files>
const char* embedded(const Files& files, const std::string& name) {
  for (const auto& file : files) {
    if (file.name != nullptr && name == file.name) return file.text;
  }
  return nullptr;
}

/// Whether this text may be a part of a URI and an argument of a command.
bool is_part(const std::string& part) {
  return !part.empty() && part.front() != '-' && part.front() != '.' &&
         std::all_of(part.begin(), part.end(), [](char c) {
           return is_name_char(c) || c == '-' || c == '.';
         });
}

}  // namespace

Result<Json> Resources::command(std::vector<std::string> words) const {
  Callbacks callbacks;
  callbacks.progress = callbacks.note = [](const std::string&) {};
  callbacks.stopped = stopped_;
  const Json document = KW_TRY(runner_(words, callbacks));
  if (document["error"]["blame"].is_string())
    return input_error(document["error"]["message"].as_string());
  return document;
}

Json::Array Resources::rows(bool titles) const {
  Json::Array all;
  for (const auto& file : kDocs) {
    if (file.name == nullptr || !std::string_view(file.name).ends_with(".md")) continue;
    all.push_back(
        resource_row("docs/" + stem(file.name), heading(file.text), "", kMarkdown, titles));
  }
  for (const auto& file : kSkill) {
    if (file.name == nullptr) continue;
    all.push_back(resource_row(std::string("skill/") + file.name, heading(file.text), "",
                               type_of(file.name), titles));
  }
  all.push_back(resource_row("catalog", "Optimisation methods",
                             "all known methods, and the metrics that their conditions use",
                             kJsonType, titles));
  all.push_back(
      resource_row("runs", "Runs", "what was synthesized, oldest first", kJsonType, titles));
  const Result<Json> runs = command({"runs", fmt::format("--limit={}", kNewestRuns)});
  if (!runs) return all;
  for (const Json& run : (*runs)["runs"].items()) {
    const std::string& id = run["id"].as_string();
    const std::string words =
        fmt::format("{}, {}", run["name"].as_string(), run["status"].as_string());
    if (!is_part(id)) continue;
    all.push_back(
        resource_row("runs/" + id + "/report", "Report of " + id, words, kJsonType, titles));
    if (run["status"].as_string() == "passed")
      all.push_back(
          resource_row("runs/" + id + "/kernel", "Kernel of " + id, words, kCuda, titles));
  }
  return all;
}

Json::Array Resources::templates(bool titles) {
  Json::Array all;
  for (const TemplateRow& row : kTemplates) {
    Json json = Json::object().set("uriTemplate", row.uri).set("name", row.name);
    if (titles) json.set("title", row.title);
    all.push_back(json.set("description", row.about).set("mimeType", row.type));
  }
  return all;
}

Result<std::string> Resources::job_text(const std::string& handle) const {
  const std::optional<JobSnapshot> seen = jobs_.look(handle);
  if (!seen) return unknown("jobs/" + handle);
  if (seen->state != JobState::Done)
    return input_error("{} is {}, and has no result", handle, state_name(seen->state));
  return seen->document.dump(true) + "\n";
}

Result<std::string> Resources::run_text(const std::vector<std::string>& parts,
                                        std::string* type) const {
  const std::string& run = parts[1];
  *type = kCuda;
  if (parts.size() == 4 && parts[2] == "candidates") {
    const Json document = KW_TRY(command({"inspect", "--candidate=" + parts[3], "--", run}));
    if (!document["text"].is_string()) return unknown(join(parts, "/"));
    return document["text"].as_string();
  }
  if (parts.size() != 3) return unknown(join(parts, "/"));
  const Json document = KW_TRY(command({"inspect", "--", run}));
  if (parts[2] == "kernel") {
    if (!document["kernel"].is_string()) return input_error("the run shipped no kernel");
    return os::read_file(document["kernel"].as_string(), kMostKernel);
  }
  if (parts[2] != "report") return unknown(join(parts, "/"));
  *type = kJsonType;
  return document["report"].dump(true) + "\n";
}

Result<std::string> Resources::text_of(const std::string& path, std::string* type) const {
  const std::vector<std::string> parts = split(path, '/');
  if (!std::all_of(parts.begin(), parts.end(), is_part)) return unknown(path.substr(0, 200));
  *type = kJsonType;
  if (parts[0] == "docs" && parts.size() == 2) {
    const char* text = embedded(kDocs, stem(parts[1]) + ".md");
    *type = kMarkdown;
    return text != nullptr ? Result<std::string>(text) : unknown(path);
  }
  if (parts[0] == "skill") {
    const char* text = embedded(kSkill, path.substr(std::string_view("skill/").size()));
    *type = type_of(path);
    return text != nullptr ? Result<std::string>(text) : unknown(path);
  }
  if (parts[0] == "catalog" && parts.size() <= 2) {
    std::vector<std::string> words = {"catalog"};
    if (parts.size() == 2) words.insert(words.end(), {"--", parts[1]});
    return KW_TRY(command(words)).dump(true) + "\n";
  }
  if (path == "runs") return KW_TRY(command({"runs"})).dump(true) + "\n";
  if (parts[0] == "runs" && parts.size() >= 3) return run_text(parts, type);
  if (parts[0] == "jobs" && parts.size() == 2) return job_text(parts[1]);
  return unknown(path);
}

RpcReply Resources::read(const std::string& uri, int not_found) const {
  const Json data = Json::object().set("uri", uri.substr(0, 500));
  if (!uri.starts_with(kScheme))
    return RpcError{not_found, "resources here begin with kernelwright://", data};
  std::string type;
  const Result<std::string> text = text_of(uri.substr(kScheme.size()), &type);
  if (!text) {
    const bool missing = text.error().blame == Blame::Input;
    return RpcError{missing ? not_found : static_cast<int>(kInternalError), text.error().message,
                    data};
  }
  Json content = Json::object().set("uri", uri).set("mimeType", type).set("text", *text);
  return Json::object().set("contents", Json::array().push(std::move(content)));
}

}  // namespace kw::mcp
