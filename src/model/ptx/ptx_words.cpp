#include "ptx/ptx_words.h"

#include <algorithm>
#include <utility>

#include "core/contains.h"

namespace kw::ptx {
namespace {

struct TypeRow {
  const char* name;
  int size;
};
// In the order of enum Type.
constexpr TypeRow kTypes[] = {
    {"none", 0},   {"b8", 1},     {"b16", 2},     {"b32", 4},   {"b64", 8},  {"b128", 16},
    {"u8", 1},     {"u16", 2},    {"u32", 4},     {"u64", 8},   {"s8", 1},   {"s16", 2},
    {"s32", 4},    {"s64", 8},    {"f16", 2},     {"f16x2", 4}, {"bf16", 2}, {"bf16x2", 4},
    {"tf32", 4},   {"f32", 4},    {"f64", 8},     {"e4m3", 1},  {"e5m2", 1}, {"e4m3x2", 2},
    {"e5m2x2", 2}, {"e2m1x2", 1}, {"ue8m0x2", 2}, {"pred", 0},
};
static_assert(std::size(kTypes) == static_cast<size_t>(Type::Pred) + 1);

constexpr std::pair<const char*, Space> kSpaces[] = {
    {"global", Space::Global},
    {"shared", Space::Shared},
    {"local", Space::Local},
    {"const", Space::Const},
    {"param", Space::Param},
    {"shared::cta", Space::Shared},
    {"shared::cluster", Space::Shared},
    {"param::entry", Space::Param},
    {"param::func", Space::Param},
};

// The x component; y and z follow it in enum Special.
constexpr std::pair<const char*, Special> kVectorSpecials[] = {
    {"%tid", Special::TidX},
    {"%ntid", Special::NtidX},
    {"%ctaid", Special::CtaidX},
    {"%nctaid", Special::NctaidX},
    {"%clusterid", Special::ClusterIdX},
    {"%nclusterid", Special::NclusterIdX},
    {"%cluster_ctaid", Special::ClusterCtaidX},
    {"%cluster_nctaid", Special::ClusterNctaidX},
};

constexpr std::pair<const char*, Special> kSpecials[] = {
    {"%laneid", Special::LaneId},
    {"%warpid", Special::WarpId},
    {"%nwarpid", Special::NwarpId},
    {"%smid", Special::SmId},
    {"%nsmid", Special::NsmId},
    {"%gridid", Special::GridId},
    {"%lanemask_eq", Special::LanemaskEq},
    {"%lanemask_le", Special::LanemaskLe},
    {"%lanemask_lt", Special::LanemaskLt},
    {"%lanemask_ge", Special::LanemaskGe},
    {"%lanemask_gt", Special::LanemaskGt},
    {"%clock", Special::Clock},
    {"%clock_hi", Special::ClockHi},
    {"%clock64", Special::Clock64},
    {"%globaltimer", Special::GlobalTimer},
    {"%globaltimer_lo", Special::GlobalTimerLo},
    {"%globaltimer_hi", Special::GlobalTimerHi},
    {"%dynamic_smem_size", Special::DynamicSmemSize},
    {"%total_smem_size", Special::TotalSmemSize},
    {"%aggr_smem_size", Special::AggrSmemSize},
    {"%cluster_ctarank", Special::ClusterCtaRank},
    {"%cluster_nctarank", Special::ClusterNctaRank},
    {"%is_explicit_cluster", Special::IsExplicitCluster},
};

template <typename Rows>
auto find_row(const Rows& rows, std::string_view name) {
  return std::ranges::find_if(rows, [&](const auto& row) { return name == row.first; });
}

bool is_environment_register(std::string_view name) {
  constexpr std::string_view kPrefix = "%envreg";
  if (name.substr(0, kPrefix.size()) != kPrefix) return false;
  const std::string_view digits = name.substr(kPrefix.size());
  return !digits.empty() && digits.size() <= 2 &&
         digits.find_first_not_of("0123456789") == std::string_view::npos && digits <= "31";
}

}  // namespace

int type_size(Type type) { return kTypes[static_cast<size_t>(type)].size; }
const char* type_name(Type type) { return kTypes[static_cast<size_t>(type)].name; }

Type find_type(std::string_view name) {
  for (size_t i = 1; i < std::size(kTypes); ++i) {
    if (name == kTypes[i].name) return static_cast<Type>(i);
  }
  return Type::None;
}

std::optional<Space> find_space(std::string_view name) {
  const auto row = find_row(kSpaces, name);
  if (row == std::end(kSpaces)) return std::nullopt;
  return row->second;
}

bool is_vector_special(std::string_view name) {
  return find_row(kVectorSpecials, name) != std::end(kVectorSpecials);
}

std::optional<Special> find_special(std::string_view name, std::string_view component) {
  if (component.empty()) {
    const auto row = find_row(kSpecials, name);
    if (row != std::end(kSpecials)) return row->second;
    if (is_environment_register(name)) return Special::EnvReg;
    return std::nullopt;
  }
  const auto row = find_row(kVectorSpecials, name);
  const bool xyz = component.size() == 1 && component[0] >= 'x' && component[0] <= 'z';
  if (row == std::end(kVectorSpecials) || !xyz) return std::nullopt;
  return static_cast<Special>(static_cast<int>(row->second) + (component[0] - 'x'));
}

bool Instruction::has(const char* modifier) const { return contains(modifiers, modifier); }

int Module::find_function(const std::string& name) const {
  for (size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace kw::ptx
