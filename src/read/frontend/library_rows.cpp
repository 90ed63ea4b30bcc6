#include "frontend/library_rows.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>

#include "kLibraryFiles.inc"

namespace kw::frontend {
namespace {

constexpr LibraryRow kLibraryRows[] = {
    {"torch.nn.RNN", "nn.py", "RNN"},
    {"torch.nn.LSTM", "nn.py", "LSTM"},
    {"torch.nn.GRU", "nn.py", "GRU"},
    {"torch.nn.MultiheadAttention", "nn.py", "MultiheadAttention"},
    {"torch.nn.TransformerEncoderLayer", "nn.py", "TransformerEncoderLayer"},
    {"torch.nn.TransformerDecoderLayer", "nn.py", "TransformerDecoderLayer"},
    {"torch.nn.TransformerEncoder", "nn.py", "TransformerEncoder"},
    {"torch.nn.TransformerDecoder", "nn.py", "TransformerDecoder"},
    {"torch.nn.Transformer", "nn.py", "Transformer"},
    {"torch.nn.MaxUnpool1d", "nn.py", "MaxUnpool1d"},
    {"torch.nn.MaxUnpool2d", "nn.py", "MaxUnpool2d"},
    {"torch.nn.MaxUnpool3d", "nn.py", "MaxUnpool3d"},
    {"torch.nn.TripletMarginWithDistanceLoss", "nn.py", "TripletMarginWithDistanceLoss"},
    {"F.affine_grid", "functional.py", "affine_grid"},
    {"F.grid_sample", "functional.py", "grid_sample"},
    {"F.max_unpool1d", "functional.py", "max_unpool1d"},
    {"F.max_unpool2d", "functional.py", "max_unpool2d"},
    {"F.max_unpool3d", "functional.py", "max_unpool3d"},
    {"F.triplet_margin_with_distance_loss", "functional.py", "triplet_margin_with_distance_loss"},
    {"torch.nn.utils.weight_norm", "utils.py", "weight_norm"},
    {"torch.nn.utils.parametrizations.weight_norm", "utils.py", "parametrized_weight_norm"},
    {"functools.partial", "standard.py", "partial"},
    {"itertools.product", "standard.py", "product"},
    {"itertools.accumulate", "standard.py", "accumulate"},
    {"itertools.pairwise", "standard.py", "pairwise"},
    {"itertools.islice", "standard.py", "islice"},
    {"itertools.combinations", "standard.py", "combinations"},
    {"einops.rearrange", "einops.py", "rearrange"},
    {"einops.repeat", "einops.py", "repeat"},
    {"einops.reduce", "einops.py", "reduce"},
    {"einops.layers.torch.Rearrange", "einops.py", "Rearrange"},
    {"einops.layers.torch.Reduce", "einops.py", "Reduce"},
};

const char* text_of_file(const std::string& file) {
  for (const auto& one : kLibraryFiles) {
    if (one.name && file == one.name) return one.text;
  }
  return "";
}

}  // namespace

const LibraryRow* find_library_row(std::string_view name) {
  const auto* found = std::find_if(std::begin(kLibraryRows), std::end(kLibraryRows),
                                   [&](const LibraryRow& row) { return row.name == name; });
  return found == std::end(kLibraryRows) ? nullptr : found;
}

std::vector<std::string> written_names() {
  std::vector<std::string> names;
  for (const LibraryRow& row : kLibraryRows) names.emplace_back(row.name);
  return names;
}

Result<std::shared_ptr<const Source>> written_source(const std::string& file) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Source>> sources;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Source>& source = sources[file];
  if (!source) source = KW_TRY(parse_python(text_of_file(file), "library/" + file));
  return source;
}

}  // namespace kw::frontend
