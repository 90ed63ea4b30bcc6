#include "core/web_address.h"

#include <gtest/gtest.h>

#include "core/text.h"

namespace kw {
namespace {

struct UrlCase {
  const char* url;
  const char* host;  // "": refused
  bool loopback = false;
};
constexpr UrlCase kUrlCases[] = {
    {"http://localhost:1/v1", "localhost", true},
    {"HTTP://LocalHost", "localhost", true},
    {"http://127.0.0.1", "127.0.0.1", true},
    {"http://127.9.9.9:80/x", "127.9.9.9", true},
    {"http://[::1]:8080/v1", "[::1]", true},
    {"http://[0:0:0:0:0:0:0:1]", "[0:0:0:0:0:0:0:1]", true},
    {"http://[::ffff:127.0.0.1]/", "[::ffff:127.0.0.1]", true},
    {"http://[::ffff:7f00:1]", "[::ffff:7f00:1]", true},
    {"https://api.example.com/v1", "api.example.com"},
    {"https://Api.Example.com?x#y", "api.example.com"},
    {"http://127.evil.com/v1", "127.evil.com"},
    {"http://localhost.evil.com", "localhost.evil.com"},
    {"http://evil.com#@127.0.0.1", "evil.com"},
    {"http://evil.com?@127.0.0.1", "evil.com"},
    {"http://[::2]:1", "[::2]"},
    {"http://[::ffff:128.0.0.1]", "[::ffff:128.0.0.1]"},
    {"http://[::127.0.0.1]", "[::127.0.0.1]"},
    {"http://128.0.0.1", "128.0.0.1"},
    {"http://0.0.0.0:1", "0.0.0.0"},
    {"http://a_b.example", "a_b.example"},
    // read differently by different programs
    {"http://localhost:x@evil.com/", ""},
    {"http://me@localhost", ""},
    {"http://@localhost", ""},
    {"http://127.0.0.1\\@evil.com", ""},
    {"http://evil.com\\.127.0.0.1", ""},
    {"http:\\\\localhost", ""},
    {"http://127.1", ""},
    {"http://127.0.1", ""},
    {"http://0x7f.1", ""},
    {"http://0x7f000001", ""},
    {"http://2130706433", ""},
    {"http://0177.0.0.1", ""},
    {"http://127.0.0.01", ""},
    {"http://127.0.0.256", ""},
    {"http://127.0.0.1.", ""},
    {"http://localhost.", ""},
    {"http://a..b", ""},
    {"http://.localhost", ""},
    {"http://-a.b", ""},
    {"http://%6cocalhost", ""},
    {"http://local host", ""},
    {"http://localhost\t", ""},
    {"http://localhost\n.evil.com", ""},
    {"http://l\xc3\xb6"
     "calhost",
     ""},
    {"http://", ""},
    {"http:///x", ""},
    {"http://:80", ""},
    {"http://?", ""},
    {"http://localhost:", ""},
    {"http://localhost:99999", ""},
    {"http://localhost:-1", ""},
    {"http://localhost:+1", ""},
    {"http://localhost:0x50", ""},
    {"http://localhost:80:80", ""},
    {"http://[::1", ""},
    {"http://[]", ""},
    {"http://[::1]x", ""},
    {"http://[::1]80", ""},
    {"http://[::1%25eth0]", ""},
    {"http://[127.0.0.1]", ""},
    {"http://::1", ""},
    {"ftp://localhost", ""},
    {"file://localhost", ""},
    {"//localhost", ""},
    {"localhost", ""},
    {"", ""},
};

TEST(WebAddress, IsPlainOrRefused) {
  for (const UrlCase& one : kUrlCases) {
    EXPECT_EQ(host_of(one.url), one.host) << one.url;
    EXPECT_EQ(is_loopback(host_of(one.url)), one.loopback) << one.url;
  }
  EXPECT_FALSE(read_address(std::string_view("http://localhost\0.evil.com", 26)));
}

TEST(WebAddress, HasItsParts) {
  const auto address = read_address("HTTPS://[::1]:8080/v1?x");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->scheme, "https");
  EXPECT_EQ(address->place.port, 8080);
  EXPECT_EQ(address->rest, "/v1?x");
  EXPECT_EQ(read_place("localhost")->port, -1);
  EXPECT_EQ(read_place("localhost:65535")->port, 65535);
  EXPECT_FALSE(read_place("localhost:65536"));
  EXPECT_FALSE(read_place("localhost/x"));
}

}  // namespace
}  // namespace kw
