#include "llm/prices.h"

#include <fmt/core.h>

#include <algorithm>

namespace kw::llm {
namespace {

constexpr double kMillion = 1e6;

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "x-20250929", "x-2025-09-29" and "x-latest" become "x"; other names are unchanged.
std::string undated(const std::string& model) {
  const auto ends = [&](size_t length) { return model.size() > length; };
  constexpr std::string_view kLatest = "-latest";
  if (ends(kLatest.size()) &&
      model.compare(model.size() - kLatest.size(), kLatest.size(), kLatest) == 0)
    return model.substr(0, model.size() - kLatest.size());
  const std::string_view view = model;
  if (ends(9) && view[view.size() - 9] == '-' && is_digits(view.substr(view.size() - 8)))
    return model.substr(0, model.size() - 9);
  if (ends(11)) {
    const std::string_view tail = view.substr(view.size() - 11);
    if (tail[0] == '-' && is_digits(tail.substr(1, 4)) && tail[5] == '-' &&
        is_digits(tail.substr(6, 2)) && tail[8] == '-' && is_digits(tail.substr(9)))
      return model.substr(0, model.size() - 11);
  }
  return model;
}

}  // namespace

double Price::usd(const Usage& usage) const {
  const int64_t prompt = usage.input + usage.cache_read + usage.cache_write;
  const Rates& r = above > 0 && prompt > above ? rates_above : rates;
  return (static_cast<double>(usage.input) * r.input +
          static_cast<double>(usage.output) * r.output +
          static_cast<double>(usage.cache_read) * r.cache_read +
          static_cast<double>(usage.cache_write) * r.cache_write) /
         kMillion;
}

double Price::most_usd(int64_t input_tokens, int64_t output_tokens) const {
  const auto most = [&](const Rates& r) {
    const double input = std::max({r.input, r.cache_read, r.cache_write});
    return (static_cast<double>(input_tokens) * input +
            static_cast<double>(output_tokens) * r.output) /
           kMillion;
  };
  return above > 0 && input_tokens > above ? std::max(most(rates), most(rates_above)) : most(rates);
}

void PriceTable::add(Price price) {
  const auto same = [&](const Price& row) { return row.model == price.model; };
  const auto at = std::find_if(rows_.begin(), rows_.end(), same);
  if (at == rows_.end()) {
    rows_.push_back(std::move(price));
  } else {
    *at = std::move(price);
  }
}

const Price* PriceTable::find(const std::string& provider, const std::string& model) const {
  for (const std::string& name : {model, undated(model)}) {
    for (const Price& row : rows_) {
      if (row.model == provider + ":" + name) return &row;
    }
  }
  return nullptr;
}

std::string usd_text(std::optional<double> usd) {
  return usd ? fmt::format("${:.4f}", *usd) : "price unknown";
}

}  // namespace kw::llm
