// What tokens cost. A model without a price has none: it is never taken to be free.
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
  int64_t above = 0;  // prompts of more tokens cost `rates_above`; 0 = one price for all
  Rates rates_above;
  std::string as_of;   // the day it was read
  std::string source;  // from where

  double usd(const Usage& usage) const;
  /// No call with so many input tokens and so long an answer costs more.
  double most_usd(int64_t input_tokens, int64_t output_tokens) const;
};

class PriceTable {
 public:
  /// Later rows win over earlier ones with the same model.
  void add(Price price);
  /// Of "provider:model". A dated or "-latest" name finds the row of its plain name; nullptr =
  /// unknown.
  const Price* find(const std::string& provider, const std::string& model) const;
  const std::vector<Price>& rows() const { return rows_; }

 private:
  std::vector<Price> rows_;
};

/// "$0.0123"; "price unknown" for nothing.
std::string usd_text(std::optional<double> usd);

}  // namespace kw::llm
