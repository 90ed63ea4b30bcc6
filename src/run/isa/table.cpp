#include "isa/table.h"

#include <unordered_map>

#include "core/check.h"

namespace kw::isa {
namespace {

using RowsFn = std::span<const Row> (*)();
constexpr RowsFn kLists[3][10] = {
    {v2::integer_rows, v2::bit_rows, v2::float_rows, v2::double_rows, v2::half_rows,
     v2::special_rows, v2::compare_rows, v2::move_rows, v2::convert_rows, v2::narrow_rows},
    {v3::integer_rows, v3::bit_rows, v3::float_rows, v3::double_rows, v3::half_rows,
     v3::special_rows, v3::compare_rows, v3::move_rows, v3::convert_rows, v3::narrow_rows},
    {v4::integer_rows, v4::bit_rows, v4::float_rows, v4::double_rows, v4::half_rows,
     v4::special_rows, v4::compare_rows, v4::move_rows, v4::convert_rows, v4::narrow_rows},
};

struct Table {
  std::vector<Row> rows;
  std::unordered_map<std::string_view, uint32_t> by_name[3];
};

const Table& table() {
  static const Table built = [] {
    Table t;
    for (int level = 0; level < 3; ++level) {
      for (const RowsFn list : kLists[level]) {
        for (const Row& row : list()) {
          const bool fresh =
              t.by_name[level].emplace(row.name, static_cast<uint32_t>(t.rows.size())).second;
          KW_CHECK(fresh, "two handlers named " + std::string(row.name));
          t.rows.push_back(row);
        }
      }
    }
    KW_CHECK(t.rows.size() < (1u << kRowIndexBits), "row index fits in the adapters' aux");
    return t;
  }();
  return built;
}

}  // namespace

std::optional<uint32_t> find_row(Level level, std::string_view name) {
  const auto& names = table().by_name[static_cast<int>(level)];
  const auto found = names.find(name);
  if (found == names.end()) return std::nullopt;
  return found->second;
}

const Row& row_at(uint32_t index) { return table().rows[index]; }

std::vector<std::string_view> row_names(Level level) {
  std::vector<std::string_view> names;
  for (const RowsFn list : kLists[static_cast<int>(level)])
    for (const Row& row : list()) names.push_back(row.name);
  return names;
}

}  // namespace kw::isa
