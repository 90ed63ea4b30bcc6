// Gives every parameter of the reference its value. The order of sources: the user or the task,
// annotations, get_inputs(), defaults, dims.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "frontend/entry.h"
#include "frontend/make_task.h"

namespace kw::frontend {

class Binder {
 public:
  Binder(const Found& found, std::vector<GivenInput> said,
         std::optional<std::vector<GivenInput>> from_file, std::string file)
      : found_(found),
        said_(std::move(said)),
        file_inputs_(std::move(from_file)),
        file_(std::move(file)) {}

  /// Fills the draft's arguments. Parameters without a value are listed in unknown().
  Status bind(TaskDraft& draft);
  const std::vector<std::string>& unknown() const { return unknown_; }
  /// An Error that says what to pass for each unknown parameter.
  Error ask() const;

 private:
  Status check_names() const;
  const GivenInput* said(const std::string& name) const;
  const GivenInput* from_file(const std::string& name, size_t place) const;
  void add(TaskDraft& draft, const std::string& name, const GivenInput& given, bool by_keyword,
           bool described = false);
  static void keep_default(TaskDraft& draft, const Parameter& parameter);
  Status add_parameter(TaskDraft& draft, size_t place);
  Status add_rest(TaskDraft& draft, size_t places);

  const Found& found_;
  std::vector<GivenInput> said_;
  std::optional<std::vector<GivenInput>> file_inputs_;
  std::string file_;
  std::vector<std::string> unknown_;
  bool skipped_ = false;  // a parameter kept its default: later ones are passed by keyword
};

}  // namespace kw::frontend
