// Several cubins that are loaded together, stored as one image. Each holds some of the kernels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kw::ports {

std::string pack_images(const std::vector<std::string>& images);

/// The images of a pack, or the image itself when it is not a pack. Empty when a pack is damaged.
std::vector<std::string_view> images_in(std::string_view image);

}  // namespace kw::ports
