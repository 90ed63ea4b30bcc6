#include "mcp/http.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "mcp/http_connections.h"
#include "mcp/http_sessions.h"
#include "mcp/http_wire.h"
#include "mcp/token.h"

namespace kw::mcp {
namespace {

struct HeadCase {
  const char* head;
  int status;  // 0 = accepted
};
class Heads : public testing::TestWithParam<HeadCase> {};

TEST_P(Heads, AreReadStrictly) {
  const auto read = read_head(GetParam().head);
  const auto* refusal = std::get_if<HttpRefusal>(&read);
  EXPECT_EQ(refusal == nullptr ? 0 : refusal->status, GetParam().status) << GetParam().head;
}

INSTANTIATE_TEST_SUITE_P(
    Table, Heads,
    testing::Values(
        HeadCase{"POST /mcp HTTP/1.1\r\nHost: localhost", 0},
        HeadCase{"POST /mcp HTTP/1.1\r\nhost:localhost\r\nX: \ty ", 0}, HeadCase{"", 400},
        HeadCase{"POST /mcp", 400}, HeadCase{"POST  /mcp HTTP/1.1\r\nHost: a", 400},
        HeadCase{"POST mcp HTTP/1.1\r\nHost: a", 400},
        HeadCase{"PO(ST /mcp HTTP/1.1\r\nHost: a", 400},
        HeadCase{"POST /mcp HTTP/1.0\r\nHost: a", 505},
        HeadCase{"POST /mcp HTTP/2\r\nHost: a", 505}, HeadCase{"POST /mcp HTTP/1.1", 400},
        HeadCase{"POST /mcp HTTP/1.1\r\nHost: a\r\nHost: b", 400},
        HeadCase{"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2", 400},
        HeadCase{"POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked", 501},
        HeadCase{"POST /mcp HTTP/1.1\r\nHost : a", 400},
        HeadCase{"POST /mcp HTTP/1.1\r\nHost: a\r\n folded", 400},
        HeadCase{"POST /mcp HTTP/1.1\r\nHost: a\x01", 400},
        HeadCase{"POST /mcp HTTP/1.1\nHost: a", 400}));

HttpRequest with(const char* name, const char* value) {
  HttpRequest request;
  request.method = "POST";
  request.headers.emplace_back(name, value);
  return request;
}

TEST(Bodies, MustSayHowLongTheyAre) {
  const auto status = [](const char* value) {
    const auto length = body_length(with("content-length", value), 100);
    const auto* refusal = std::get_if<HttpRefusal>(&length);
    return refusal == nullptr ? 0 : refusal->status;
  };
  EXPECT_EQ(status("0"), 0);
  EXPECT_EQ(status("100"), 0);
  EXPECT_EQ(status("101"), 413);
  EXPECT_EQ(status("-1"), 400);
  EXPECT_EQ(status("1,1"), 400);
  EXPECT_EQ(status("99999999999999999999999"), 400);
  EXPECT_EQ(std::get<HttpRefusal>(body_length(with("host", "a"), 100)).status, 411);
}

TEST(Hosts, AreOnlyThisMachine) {
  for (const char* good :
       {"127.0.0.1", "127.0.0.1:8000", "localhost", "LOCALHOST:1", "[::1]", "[::1]:80"})
    EXPECT_TRUE(is_local_host(good)) << good;
  for (const char* bad : {"", "evil.com", "127.0.0.1.evil.com", "localhost:x", "localhost:99999",
                          "127.0.0.2", "[::2]", "localhost:", "localhost.", "127.1", "0x7f.1",
                          "localhost:x@evil.com", "me@localhost", "[::1]x", "localhost:+1",
                          "localhost:80:80", " localhost", "localhost/x", "[::ffff:127.0.0.1]"})
    EXPECT_FALSE(is_local_host(bad)) << bad;
  EXPECT_TRUE(is_local_origin("http://localhost:6274"));
  for (const char* bad :
       {"null", "http://evil.com", "file://localhost", "http://localhost.evil.com", "localhost",
        "http://localhost:x@evil.com", "http://evil.com#@localhost", "http://localhost/",
        "http://127.0.0.1\\@evil.com", "http://localhost.", "http://127.1", "http://"})
    EXPECT_FALSE(is_local_origin(bad)) << bad;
}

TEST(Tokens, MustBeExactlyRight) {
  const std::string token = "0123456789abcdef";
  EXPECT_TRUE(is_authorized(with("authorization", "Bearer 0123456789abcdef"), token));
  EXPECT_TRUE(is_authorized(with("authorization", "bearer 0123456789abcdef"), token));
  for (const char* bad :
       {"", "Bearer", "Bearer ", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0",
        "Basic 0123456789abcdef", "Bearer 0123456789abcdeF", "0123456789abcdef",
        "Bearer 0123456789abcdef0123456789abcdef"})
    EXPECT_FALSE(is_authorized(with("authorization", bad), token)) << bad;
  EXPECT_FALSE(is_authorized(with("host", "a"), token));
}

TEST(Tokens, OfFilesAreForTheirOwnerAlone) {
  std::string folder = testing::TempDir() + "kw_token_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/token";
  const auto made = token_of_file(path);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->size(), 64U);
  EXPECT_EQ(*token_of_file(path), *made);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  ::chmod(path.c_str(), 0644);
  EXPECT_FALSE(token_of_file(path));
  std::ofstream(folder + "/short") << "abc";
  ::chmod((folder + "/short").c_str(), 0600);
  EXPECT_FALSE(token_of_file(folder + "/short"));
  EXPECT_FALSE(token_of_file(folder));
  std::filesystem::create_symlink(path, folder + "/link");
  EXPECT_FALSE(token_of_file(folder + "/link"));
  std::filesystem::remove_all(folder);
  EXPECT_NE(*new_token(), *new_token());
}

TEST(Accepting, KnowsRangesAndLists) {
  EXPECT_TRUE(accepts(with("accept", "application/json, text/event-stream"), "text/event-stream"));
  EXPECT_TRUE(accepts(with("accept", "*/*"), "text/event-stream"));
  EXPECT_TRUE(accepts(with("accept", "text/*;q=0.5"), "text/event-stream"));
  EXPECT_FALSE(accepts(with("accept", "application/json"), "text/event-stream"));
  EXPECT_FALSE(accepts(with("host", "a"), "text/event-stream"));
}

TEST(Headers, CarryWhatIsNotPlain) {
  std::string text;
  EXPECT_TRUE(decode_header("plain", &text));
  EXPECT_EQ(text, "plain");
  EXPECT_TRUE(decode_header("=?base64?w6TDtg==?=", &text));
  EXPECT_EQ(text, "\xc3\xa4\xc3\xb6");
  EXPECT_FALSE(decode_header("=?base64?w6TDtg=?=", &text));
  EXPECT_FALSE(decode_header("=?base64?****?=", &text));
}

TEST(Answers, SayHowLongTheyAre) {
  EXPECT_EQ(to_text({200, "application/json", "{}"}),
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
            "2\r\nCache-Control: no-store\r\n\r\n{}");
  EXPECT_NE(to_text({204, "", ""}).find("204 No Content"), std::string::npos);
}

TEST(HttpSessions, MakeRoomForNewOnes) {
  HttpSessions sessions;
  const std::string first = (*sessions.make())->id();
  const std::string busy = (*sessions.make())->id();
  sessions.find(busy)->open(Json(1));
  for (int i = 0; i < 62; ++i) ASSERT_TRUE(sessions.make());
  ASSERT_TRUE(sessions.find(first));
  for (int i = 0; i < 63; ++i) ASSERT_TRUE(sessions.make());
  EXPECT_FALSE(sessions.find(first));
  EXPECT_TRUE(sessions.find(busy)) << "whoever is at work stays";
  EXPECT_TRUE(sessions.take(busy));
  EXPECT_FALSE(sessions.find(busy));
}

/// Two ends of a connection; the second is the client's.
std::pair<int, int> connection() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {ends[0], ends[1]};
}

bool is_shut(int client) {
  char byte = 0;
  return ::recv(client, &byte, 1, MSG_DONTWAIT) == 0;
}

TEST(Connections, MakeRoomAmongTheSilent) {
  Connections connections(3);
  std::vector<std::pair<int, int>> all;
  const auto join = [&] {
    all.push_back(connection());
    return connections.admit(all.back().first);
  };
  ASSERT_TRUE(join() && join() && join());
  connections.works(all[0].first);
  connections.waits(all[0].first);  // trusted, silent longest
  connections.works(all[2].first);
  EXPECT_TRUE(join());
  EXPECT_TRUE(is_shut(all[1].second)) << "it never sent the token";
  EXPECT_FALSE(is_shut(all[0].second) || is_shut(all[2].second));
  connections.works(all[3].first);
  EXPECT_TRUE(join());
  EXPECT_TRUE(is_shut(all[0].second)) << "then one that waits";
  connections.works(all[4].first);
  EXPECT_FALSE(join()) << "all are at work";
  connections.leave(all[2].first);
  EXPECT_TRUE(join());
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(join()) << "silent ones replace each other";
  EXPECT_FALSE(is_shut(all[3].second) || is_shut(all[4].second));
  for (const auto& [ours, theirs] : all) {
    ::close(ours);
    ::close(theirs);
  }
}

TEST(HttpWire, DoesNotWaitForSlowClients) {
  const std::atomic<bool> ending{false};
  const Patience none{0.01, 0.01, 0.01, 0.01, 1e9};
  {
    const auto [ours, client] = connection();
    HttpWire wire(ours, ending, none);
    EXPECT_FALSE(wire.head()) << "nothing was sent";
    EXPECT_FALSE(wire.write(std::string(10 << 20, 'x'))) << "nothing is read";
    EXPECT_TRUE(wire.is_closed());
    EXPECT_FALSE(wire.write("x")) << "and nothing more is written";
    ::close(client);
  }
  {
    const auto [ours, client] = connection();
    HttpWire wire(ours, ending, none);
    ASSERT_EQ(::send(client, "POST / HTTP/1.1\r\n", 17, 0), 17);
    const auto head = wire.head();
    ASSERT_TRUE(head && std::holds_alternative<HttpRefusal>(*head));
    EXPECT_EQ(std::get<HttpRefusal>(*head).status, 408);
    HttpRequest request;
    EXPECT_FALSE(wire.body(request, 1000));
    ::close(client);
  }
}

}  // namespace
}  // namespace kw::mcp
