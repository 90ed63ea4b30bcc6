#include "llm/cassette.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "llm/message_json.h"

namespace kw::llm {
namespace {

constexpr const char* kHead = "{\"kernelwright_cassette\":1}";

Failure unavailable(std::string message) {
  Failure failure;
  failure.kind = FailureKind::Unavailable;
  failure.message = std::move(message);
  return failure;
}

}  // namespace

Status CassetteWriter::add(const std::string& provider, const Request& request,
                           const Outcome& outcome) {
  Json line(Json::Object{{"provider", provider}});
  line.set("request", to_json(request)).set("outcome", to_json(outcome));
  const std::lock_guard lock(mutex_);
  if (!begun_) {
    KW_TRY(disk_.write(path_, std::string(kHead) + "\n", os::Sync::No));
    begun_ = true;
  }
  return disk_.append(path_, line.dump() + "\n");
}

Outcome Recording::complete(const Request& request, const Watch& watch) {
  Outcome outcome = inner_.complete(request, watch);
  if (const auto written = writer_.add(inner_.name(), request, outcome); !written)
    return unavailable("recording the exchange: " + written.error().message);
  return outcome;
}

Result<Cassette> Cassette::load(const std::string& path) {
  const std::string text = KW_TRY(os::read_file(path));
  std::vector<std::string_view> lines = split_lines(text);
  // A run that was killed while recording leaves an incomplete line.
  if (!lines.empty() && text.back() != '\n') lines.pop_back();
  Cassette cassette;
  cassette.path_ = path;
  if (lines.empty() || lines[0] != kHead)
    return input_error("{}: it is not a cassette of this version", path);
  for (size_t i = 1; i < lines.size(); ++i) {
    const auto at = [&](const std::string& what) {
      return input_error("{}:{}: {}", path, i + 1, what);
    };
    const auto line = Json::parse(lines[i]);
    if (!line) return at(line.error().message);
    auto outcome = outcome_from_json((*line)["outcome"]);
    if (!outcome) return at(outcome.error().message);
    cassette.entries_.push_back({(*line)["provider"].as_string(), (*line)["request"],
                                 (*line)["request"].dump(), std::move(outcome).value()});
  }
  return cassette;
}

Outcome Cassette::play(const std::string& provider, const Request& request) {
  const std::lock_guard lock(mutex_);
  // Compare as text, in the form that was recorded: numbers and broken UTF-8 are then equal.
  const std::string text = to_json(request).dump();
  Entry* due = nullptr;
  for (Entry& entry : entries_) {
    if (entry.used) continue;
    if (due == nullptr) due = &entry;
    if (entry.provider != provider || entry.request_text != text) continue;
    entry.used = true;
    return entry.outcome;
  }
  if (due == nullptr) {
    return unavailable(fmt::format("{}: the recording has {} exchanges; the run requested another",
                                   path_, entries_.size()));
  }
  const auto number = due - entries_.data() + 1;
  if (due->provider != provider) {
    return unavailable(fmt::format("{}: exchange {} was recorded with {}, now it is {}", path_,
                                   number, due->provider, provider));
  }
  const auto now = Json::parse(text);
  return unavailable(fmt::format("{}: the request is not the one recorded as exchange {}: {}",
                                 path_, number,
                                 first_difference(due->request, now ? *now : Json())));
}

size_t Cassette::left() {
  const std::lock_guard lock(mutex_);
  return static_cast<size_t>(std::count_if(entries_.begin(), entries_.end(),
                                           [](const Entry& entry) { return !entry.used; }));
}

Outcome Replaying::complete(const Request& request, const Watch& watch) {
  Outcome outcome = cassette_.play(name_, request);
  if (outcome && watch.on_text && !outcome->text.empty()) watch.on_text(outcome->text);
  return outcome;
}

}  // namespace kw::llm
