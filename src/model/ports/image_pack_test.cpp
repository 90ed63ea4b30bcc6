#include "ports/image_pack.h"

#include <gtest/gtest.h>

namespace kw::ports {
namespace {

TEST(ImagePack, GivesBackWhatWasPacked) {
  const std::vector<std::string> images = {"\177ELF one", std::string("two\0more", 8), ""};
  const std::string pack = pack_images(images);
  const std::vector<std::string_view> found = images_in(pack);
  EXPECT_EQ(std::vector<std::string>(found.begin(), found.end()), images);
}

TEST(ImagePack, AnyOtherImageIsItself) {
  for (const std::string_view image : {"", ".version 9.0", "\177ELF", "kernelwright"})
    EXPECT_EQ(images_in(image), std::vector{image});
}

TEST(ImagePack, DamageIsSeen) {
  const std::string pack = pack_images({"first", "second"});
  for (const size_t bytes : {pack.size() - 1, pack.size() - 9, pack.size() + 3}) {
    std::string damaged = pack;
    damaged.resize(bytes);
    EXPECT_TRUE(images_in(damaged).empty()) << bytes;
  }
}

}  // namespace
}  // namespace kw::ports
