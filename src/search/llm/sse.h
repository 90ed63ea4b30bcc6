// Server-sent events: takes bytes in pieces of any size and gives whole events.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace kw::llm {

struct SseEvent {
  std::string type;  // of the "event:" line; "": none
  std::string data;  // "data:" lines, joined by '\n'
};

class SseParser {
 public:
  explicit SseParser(std::function<void(const SseEvent&)> on_event)
      : on_event_(std::move(on_event)) {}
  void feed(std::string_view bytes);
  /// The stream has ended: gives the last event even when its empty line is missing.
  void finish();

 private:
  void take_line(std::string_view line);
  void dispatch();

  std::function<void(const SseEvent&)> on_event_;
  std::string line_;
  SseEvent event_;
  bool has_data_ = false;
  bool skip_newline_ = false;  // a '\r' ended the last line; a '\n' right after it belongs to it
  bool first_line_ = true;
};

}  // namespace kw::llm
