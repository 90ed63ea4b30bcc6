// The functions and constants of libcurl that we use, declared here so that neither the build nor
// the binary needs libcurl. They belong to its stable ABI (soname 4). Internal to curl_http.cpp.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "os/library.h"

namespace kw::llm::curl {

struct Slist;
using Easy = void;
using Multi = void;

struct WaitFd {
  int fd;
  short events;
  short revents;
};
struct Message {
  int kind;  // 1: done
  Easy* easy;
  union {
    void* whatever;
    int result;
  } data;
};

constexpr long kGlobalAll = 3;
constexpr short kWaitIn = 1;
constexpr int kMessageDone = 1;

enum Option : int {
  kNoSignal = 99,
  kPost = 47,
  kFollowLocation = 52,
  kVerifyPeer = 64,
  kVerifyHost = 81,
  kLowSpeedLimit = 19,
  kLowSpeedTime = 20,
  kTimeoutMs = 155,
  kConnectTimeoutMs = 156,
  kProtocols = 181,
  kTcpKeepAlive = 213,
  kWriteData = 10001,
  kUrl = 10002,
  kErrorBuffer = 10010,
  kPostFields = 10015,
  kUserAgent = 10018,
  kHttpHeader = 10023,
  kHeaderData = 10029,
  kCaInfo = 10065,
  kAcceptEncoding = 10102,
  kWriteFunction = 20011,
  kHeaderFunction = 20079,
  kNoProxyFor = 10177,
  kPostFieldSize = 30120,
};
enum Info : int { kResponseCode = 0x200002, kPretransferTime = 0x300006 };

enum Code : int {
  kOk = 0,
  kUnsupportedProtocol = 1,
  kUrlMalformed = 3,
  kNoProxy = 5,
  kNoHost = 6,
  kNoConnection = 7,
  kPartialFile = 18,
  kWriteError = 23,
  kTimedOut = 28,
  kTlsHandshake = 35,
  kGotNothing = 52,
  kSendError = 55,
  kReceiveError = 56,
  kTlsCertificate = 58,
  kTlsCipher = 59,
  kTlsPeer = 60,
  kTlsCaFile = 77,
  kHttp2 = 16,
  kHttp2Stream = 92,
};

struct Api {
  int (*global_init)(long);
  Easy* (*easy_init)();
  void (*easy_cleanup)(Easy*);
  int (*easy_setopt)(Easy*, int, ...);
  int (*easy_getinfo)(Easy*, int, ...);
  const char* (*easy_strerror)(int);
  Multi* (*multi_init)();
  int (*multi_cleanup)(Multi*);
  int (*multi_add_handle)(Multi*, Easy*);
  int (*multi_remove_handle)(Multi*, Easy*);
  int (*multi_perform)(Multi*, int*);
  int (*multi_poll)(Multi*, WaitFd*, unsigned, int, int*);
  Message* (*multi_info_read)(Multi*, int*);
  Slist* (*slist_append)(Slist*, const char*);
  void (*slist_free_all)(Slist*);
  char* (*version)();
};

/// Loads the first library found. The environment Error names the package to install.
Result<Api> load(const std::vector<std::string>& names);

}  // namespace kw::llm::curl
