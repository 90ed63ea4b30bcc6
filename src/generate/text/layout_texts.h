// Device code for memory layouts: packs of elements, words, tiles. The texts are rows of the table
// in helpers.cpp.
#pragma once

namespace kw::generate {

inline constexpr const char* kPack =
    R"(// Neighbouring elements that are loaded and stored as one word.
template <typename T, int kCount>
struct alignas(sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16) Pack {
  T at[kCount];
};
)";

inline constexpr const char* kWord = R"(// The unsigned word, or words, of that many bytes.
template <int kBytes>
struct WordOf {
  using Type = uint4;
};
template <>
struct WordOf<8> {
  using Type = uint2;
};
template <>
struct WordOf<4> {
  using Type = unsigned int;
};
template <>
struct WordOf<2> {
  using Type = unsigned short;
};
template <>
struct WordOf<1> {
  using Type = unsigned char;
};
)";

inline constexpr const char* kTilePlace =
    R"(// Where a tile of several products lies. Eight rows of tiles at a time, column by column: what
// blocks read at the same time lies in few rows and few columns.
template <typename Index>
struct TilePlace {
  Index batch, m, n;
};
template <typename Index>
__device__ __forceinline__ TilePlace<Index> tile_place(Index tile, Index tiles_m, Index tiles_n) {
  const Index all = tiles_m * tiles_n, place = tile % all;
  const Index band = place / (8 * tiles_n) * 8, within = place % (8 * tiles_n);
  const Index high = tiles_m - band < 8 ? tiles_m - band : 8;
  return {tile / all, band + within % high, within / high};
}
)";

inline constexpr const char* kLoadPack =
    R"(template <int kCount, typename T>
__device__ __forceinline__ Pack<T, kCount> load_pack(const T* from) {
  constexpr int kBytes = sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16;
  using Word = typename WordOf<kBytes>::Type;
  Pack<T, kCount> pack;
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(pack) / kBytes); ++i) {
    const Word* at = reinterpret_cast<const Word*>(from) + i;
    const Word word = *at;
    memcpy(reinterpret_cast<char*>(&pack) + i * kBytes, &word, kBytes);
  }
  return pack;
}
)";

}  // namespace kw::generate
