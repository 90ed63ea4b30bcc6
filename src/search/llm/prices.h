// What tokens cost. A model without a price row has an unknown price; it is never treated as free.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "llm/reply.h"

namespace kw::llm {

/// US dollars per million tokens.
struct Rates {
  double input = 0, output = 0, cache_read = 0, cache_write = 0;
};

struct Price {
  std::string model;  // "anthropic:claude-sonnet-4-6"
  Rates rates;
  int64_t above = 0;  // longer prompts (in tokens) cost `rates_above`; 0: one price for all
  Rates rates_above;
  std::string as_of;   // the date of the price
  std::string source;  // where the price was read

  double usd(const Usage& usage) const;
  /// The upper limit of the cost of a call with these numbers of tokens.
  double most_usd(int64_t input_tokens, int64_t output_tokens) const;
};

class PriceTable {
 public:
  /// Replaces an earlier row with the same model.
  void add(Price price);
  /// The price of "provider:model". A dated or "-latest" name also finds the row of its plain name.
  /// nullptr: unknown.
  const Price* find(const std::string& provider, const std::string& model) const;
  const std::vector<Price>& rows() const { return rows_; }

 private:
  std::vector<Price> rows_;
};

/// "$0.0123"; "price unknown" when not set.
std::string usd_text(std::optional<double> usd);

}  // namespace kw::llm
