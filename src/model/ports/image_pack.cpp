#include "ports/image_pack.h"

#include <cstdint>
#include <cstring>

namespace kw::ports {
namespace {

constexpr std::string_view kMark = "kernelwright images 1\n";  // no ELF or PTX starts like this

}  // namespace

std::string pack_images(const std::vector<std::string>& images) {
  std::string pack(kMark);
  for (const std::string& image : images) {
    const uint64_t bytes = image.size();
    pack.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    pack += image;
  }
  return pack;
}

std::vector<std::string_view> images_in(std::string_view image) {
  if (!image.starts_with(kMark)) return {image};
  std::vector<std::string_view> images;
  for (std::string_view rest = image.substr(kMark.size()); !rest.empty();) {
    uint64_t bytes = 0;
    if (rest.size() < sizeof bytes) return {};
    std::memcpy(&bytes, rest.data(), sizeof bytes);
    rest.remove_prefix(sizeof bytes);
    if (bytes > rest.size()) return {};
    images.push_back(rest.substr(0, bytes));
    rest.remove_prefix(bytes);
  }
  return images;
}

}  // namespace kw::ports
