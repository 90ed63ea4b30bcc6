#include "llm/sse.h"

namespace kw::llm {

void SseParser::feed(std::string_view bytes) {
  for (const char c : bytes) {
    if (skip_newline_ && c == '\n') {
      skip_newline_ = false;
      continue;
    }
    skip_newline_ = c == '\r';
    if (c != '\n' && c != '\r') {
      line_ += c;
      continue;
    }
    take_line(line_);
    line_.clear();
  }
}

void SseParser::finish() {
  if (!line_.empty()) take_line(line_);
  line_.clear();
  dispatch();
}

void SseParser::take_line(std::string_view line) {
  if (first_line_ && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  first_line_ = false;
  if (line.empty()) return dispatch();
  const size_t colon = line.find(':');
  if (colon == 0) return;  // a comment, sent to keep the connection open
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  if (field == "event") event_.type = value;
  if (field == "data") {
    if (has_data_) event_.data += '\n';
    event_.data += value;
    has_data_ = true;
  }
}

void SseParser::dispatch() {
  if (has_data_) on_event_(event_);
  event_ = {};
  has_data_ = false;
}

}  // namespace kw::llm
