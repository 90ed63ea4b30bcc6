#include "signing/signing.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <vector>

#include "os/files.h"

namespace kw::signing {
namespace {

TEST(Digest, IsBlake2b256) {
  EXPECT_EQ(digest(""), "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  Digest grown;
  grown.add("ab");
  EXPECT_EQ(grown.hex(), digest("ab"));
  grown.add("c");
  EXPECT_EQ(grown.hex(), digest("abc"));
}

TEST(Signer, SignsForItsKeyAndTextOnly) {
  const Signer one = Signer::named("one"), other = Signer::named("other");
  const std::string signature = one.sign("text");
  EXPECT_TRUE(is_signed(one.key(), signature, "text"));
  EXPECT_FALSE(is_signed(one.key(), signature, "texts"));
  EXPECT_FALSE(is_signed(other.key(), signature, "text"));
  EXPECT_FALSE(is_signed(one.key(), signature.substr(2), "text"));
  EXPECT_FALSE(is_signed("", "", ""));
  EXPECT_EQ(one.mark("text"), Signer::named("one").mark("text"));
  EXPECT_NE(one.mark("text"), one.mark("texts"));
  EXPECT_NE(one.mark("text"), other.mark("text"));
}

class OwnKey : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    const char* was = ::getenv("XDG_DATA_HOME");
    before_ = was == nullptr ? "" : was;
    ::setenv("XDG_DATA_HOME", folder_.c_str(), 1);
  }
  void TearDown() override {
    if (before_.empty()) {
      ::unsetenv("XDG_DATA_HOME");
    } else {
      ::setenv("XDG_DATA_HOME", before_.c_str(), 1);
    }
    std::filesystem::remove_all(folder_);
  }
  std::string path() const { return folder_ + "/kernelwright/signing.key"; }
  std::string folder_ = "/tmp/kw-signing-XXXXXX", before_;
};

TEST_F(OwnKey, IsMadeOnceForThisUserAlone) {
  EXPECT_FALSE(Signer::own(IfMissing::Fail));
  EXPECT_FALSE(os::exists(path()));
  const Signer made = Signer::own(IfMissing::Make).value();
  EXPECT_EQ(Signer::own(IfMissing::Fail)->key(), made.key());
  struct stat st {};
  ASSERT_EQ(::stat(path().c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0600U);
  EXPECT_EQ(os::list_directory(folder_ + "/kernelwright"), std::vector<std::string>{"signing.key"});
}

TEST_F(OwnKey, IsRefusedWhenOthersCanReadItOrItIsNone) {
  ASSERT_TRUE(Signer::own(IfMissing::Make));
  ::chmod(path().c_str(), 0640);
  const auto open = Signer::own(IfMissing::Make);
  ASSERT_FALSE(open);
  EXPECT_NE(open.error().message.find("chmod 600"), std::string::npos);
  ASSERT_TRUE(os::write_file(path(), "hello\n"));
  const auto none = Signer::own(IfMissing::Make);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().blame, Blame::Environment);
}

TEST_F(OwnKey, IsTheSameForProcessesThatMakeItTogether) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  constexpr int kProcesses = 8;
  for (int i = 0; i < kProcesses; ++i) {
    if (::fork() != 0) continue;
    const auto signer = Signer::own(IfMissing::Make);
    const bool told = signer && ::write(ends[1], signer->key().data(), 64) == 64;
    ::_exit(told ? 0 : 1);
  }
  std::set<std::string> keys;
  for (int i = 0; i < kProcesses; ++i) {
    int status = -1;
    ::wait(&status);
    EXPECT_EQ(status, 0);
    std::string key(64, '\0');
    EXPECT_EQ(::read(ends[0], key.data(), 64), 64);
    keys.insert(key);
  }
  EXPECT_EQ(keys.size(), 1U);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace kw::signing
