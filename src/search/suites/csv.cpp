#include "suites/csv.h"

namespace kw::suites {

namespace {

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string text = "\"";
  for (const char c : cell) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + "\"";
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;  // a byte order mark
  }

  Result<std::vector<CsvRecord>> run() {
    std::vector<CsvRecord> records;
    while (at_ < text_.size()) {
      CsvRecord record{line_, {}};
      do {
        record.cells.push_back(KW_TRY(cell()));
      } while (take(','));
      end_line();
      const bool blank = record.cells.size() == 1 && record.cells[0].empty();
      if (!blank) records.push_back(std::move(record));
    }
    return records;
  }

 private:
  bool at_end() const { return at_ == text_.size(); }
  bool at_line_end() const {
    return at_end() || text_[at_] == '\n' ||
           (text_[at_] == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] == '\n'));
  }

  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void end_line() {
    take('\r');
    if (take('\n')) ++line_;
  }

  Result<std::string> cell() {
    if (take('"')) return quoted_cell();
    const size_t start = at_;
    while (!at_line_end() && text_[at_] != ',') ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  Result<std::string> quoted_cell() {
    const int opened = line_;
    std::string cell;
    while (!at_end()) {
      const char c = text_[at_++];
      if (c == '\n') ++line_;
      if (c != '"' || take('"')) {
        cell += c;
        continue;
      }
      if (at_line_end() || text_[at_] == ',') return cell;
      return input_error("line {}: text behind a closing quote", line_);
    }
    return input_error("line {}: a quote that never ends", opened);
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

std::string csv_line(const std::vector<std::string>& cells) {
  std::string text;
  for (size_t i = 0; i < cells.size(); ++i) text += (i == 0 ? "" : ",") + quoted(cells[i]);
  return text + "\n";
}

Result<std::vector<CsvRecord>> parse_csv(std::string_view text) { return Reader(text).run(); }

}  // namespace kw::suites
