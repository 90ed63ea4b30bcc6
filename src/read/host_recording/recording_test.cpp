#include "host_recording/recording.h"

#include <gtest/gtest.h>

#include <fmt/core.h>

namespace kw::host_recording {
namespace {

constexpr const char* kHead = "kernelwright recording 1\n";
constexpr uint64_t kBase = uint64_t{1} << 47;

std::string bytes(uint64_t value, int count = 8) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{:02x}", value >> (8 * i) & 0xff);
  return text;
}

std::string launch(const std::string& entry, const std::vector<std::string>& params, int grid = 4) {
  std::string line =
      fmt::format("launch {} {} 1 1 256 1 1 0 1 1 1 0 0 {}", entry, grid, params.size());
  for (const std::string& param : params) line += " " + param;
  return line + "\n";
}

/// Three calls with tensors at A, B and A again; `inside` makes the lines of one call.
template <typename Inside>
std::string recording(uint64_t base, const Inside& inside) {
  std::string text = std::string(kHead) + "case 0\n";
  for (const uint64_t at : {base, base + (8 << 20), base}) {
    text += fmt::format("tensor 0 {} 4096\ntensor 1 {} 4096\ncall\n", at, at + (2 << 20));
    text += inside(at, at + (2 << 20));
    text += "end\n";
  }
  return text;
}

std::string plain(uint64_t x, uint64_t y) {
  return launch("k", {bytes(x), bytes(y + 16), bytes(1024, 4)});
}

struct Outcome {
  std::string refused, not_served;
  RecordedCall call;
  bool good = false;
};

Outcome settled(const std::vector<std::string>& texts) {
  std::vector<std::vector<CaseRecord>> runs;
  for (const std::string& text : texts) {
    auto read = read_recording(text);
    if (!read) return {read.error().message, "", {}, false};
    runs.push_back(std::move(*read));
  }
  std::vector<CaseRecord*> records;
  for (auto& run : runs) records.push_back(&run.at(0));
  const AgreedCall found = agree_on_call(records, 3);
  Outcome out{found.refused, found.not_served, {}, found.call != nullptr};
  if (found.call != nullptr) out.call = *found.call;
  return out;
}

TEST(Recording, KeptMemoryMayGrow) {
  // The second half begins where the room for the largest call so far ends.
  const auto grown = [](uint64_t room) {
    return [room](uint64_t x, uint64_t y) {
      const uint64_t kept = kBase + (uint64_t{1} << 40) + room;
      return fmt::format("alloc {} {}\n", kept, 2 * room) +
             launch("k", {bytes(x), bytes(kept), bytes(kept + room)}) +
             launch("k", {bytes(kept + room), bytes(y)});
    };
  };
  const Outcome found = settled({recording(kBase, grown(4096)), recording(kBase, grown(512))});
  ASSERT_TRUE(found.good) << found.refused << found.not_served;
  EXPECT_EQ(found.call.scratch, (std::vector<uint64_t>{1024}));
  EXPECT_EQ(found.call.steps[1].params[0].pointers, (std::vector<Pointer>{{0, -1, 0, 512}}));
}

TEST(Recording, ACaseMayComeAgain) {
  const std::string again =
      recording(kBase, plain) + fmt::format(
                                    "case 1\ncase 0\ntensor 0 {0} 4096\ntensor 1 {1} 4096\n"
                                    "call\n{2}end\n",
                                    kBase, kBase + 4096 * 512, launch("other", {bytes(kBase)}));
  const auto read = read_recording(again);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ(read->front().calls.size(), 4u);
  EXPECT_NE(settled({again}).refused.find("launches differ"), std::string::npos);
}

TEST(Recording, AddressesBecomePlaces) {
  const Outcome found =
      settled({recording(kBase, plain), recording(kBase + (uint64_t{1} << 36), plain)});
  ASSERT_TRUE(found.good) << found.refused << found.not_served;
  ASSERT_EQ(found.call.steps.size(), 1u);
  const RecordedStep& step = found.call.steps[0];
  EXPECT_EQ(step.name, "k");
  EXPECT_EQ(step.grid.x, 4u);
  EXPECT_EQ(step.params[0].pointers, (std::vector<Pointer>{{0, 0, -1, 0}}));
  EXPECT_EQ(step.params[1].pointers, (std::vector<Pointer>{{0, 1, -1, 16}}));
  EXPECT_TRUE(step.params[2].pointers.empty());
  EXPECT_EQ(step.params[2].bytes, (std::vector<uint8_t>{0, 4, 0, 0}));
}

TEST(Recording, PointersInsideStructuresAreFound) {
  const auto inside = [](uint64_t x, uint64_t y) {
    return launch("k", {bytes(7, 4) + bytes(0, 4) + bytes(x + 8) + bytes(y) + bytes(3)});
  };
  const Outcome found =
      settled({recording(kBase, inside), recording(kBase + (uint64_t{1} << 36), inside)});
  ASSERT_TRUE(found.good) << found.refused;
  EXPECT_EQ(found.call.steps[0].params[0].pointers,
            (std::vector<Pointer>{{8, 0, -1, 8}, {16, 1, -1, 0}}));
}

TEST(Recording, NumbersThatLookLikePointersAreADifference) {
  const uint64_t number = kBase + 100;  // is by chance an address of the first process
  const auto inside = [&](uint64_t, uint64_t y) { return launch("k", {bytes(number), bytes(y)}); };
  const Outcome found =
      settled({recording(kBase, inside), recording(kBase + (uint64_t{1} << 36), inside)});
  EXPECT_FALSE(found.good);
}

TEST(Recording, MovesKeepTheirSteps) {
  const auto inside = [](uint64_t x, uint64_t y) {
    return fmt::format("move {} {} 4 2 5 3 1 3 1 5 0\n", y, x + 8);
  };
  const Outcome out = settled({recording(kBase, inside), recording(kBase + 999 * 4096, inside)});
  ASSERT_TRUE(out.good) << out.refused;
  const RecordedStep& step = out.call.steps.at(0);
  EXPECT_EQ(step.kind, RecordedStep::Kind::Move);
  EXPECT_EQ(step.params[1].pointers.at(0).add, 8);
  EXPECT_EQ(step.numbers, (std::vector<uint64_t>{4, 5, 3, 1, 3, 1, 5}));
}

TEST(Recording, MovesMayConvert) {
  const auto inside = [](uint64_t x, uint64_t y) {
    return fmt::format("move {} {} {} 1 3 1 1 0\n", y, x, 256 + 16 * 5 + 6);  // fp16 to fp32
  };
  const Outcome out = settled({recording(kBase, inside), recording(kBase + 999 * 4096, inside)});
  ASSERT_TRUE(out.good) << out.refused;
  EXPECT_EQ(out.call.steps.at(0).numbers, (std::vector<uint64_t>{342, 3, 1, 1}));
}

TEST(Recording, ScratchIsNumberedByUse) {
  uint64_t next = kBase + (uint64_t{1} << 30);
  const auto inside = [&](uint64_t x, uint64_t y) {
    const uint64_t a = next, b = next + (4 << 20);
    next += 16 << 20;
    return fmt::format("alloc {} 100\nalloc {} 200\n", a, b) + launch("p", {bytes(x), bytes(b)}) +
           launch("q", {bytes(b), bytes(a), bytes(y)}) + fmt::format("free {}\nfree {}\n", a, b);
  };
  const std::string text = recording(kBase, inside);
  const Outcome found = settled({text});
  ASSERT_TRUE(found.good) << found.refused;
  EXPECT_EQ(found.call.scratch, (std::vector<uint64_t>{200, 100}));
  EXPECT_EQ(found.call.steps[1].params[0].pointers[0].scratch, 0);
  EXPECT_EQ(found.call.steps[1].params[1].pointers[0].scratch, 1);
}

TEST(Recording, AddressesThatAreGivenAgainMeanWhatTheyMeanNow) {
  int turn = 0;
  const auto inside = [&](uint64_t x, uint64_t y) {
    const uint64_t a = kBase + (uint64_t{1} << 30);
    // The first call has two small allocations, later calls one large allocation over both.
    const std::string memory = turn++ == 0 ? fmt::format("alloc {} 64\nalloc {} 64\n", a + 512, a)
                                           : fmt::format("alloc {} 2048\n", a);
    return memory + launch("k", {bytes(x), bytes(y), bytes(a + (turn == 1 ? 0 : 1024))});
  };
  const std::string text = recording(kBase, inside);
  const auto read = read_recording(text);
  ASSERT_TRUE(read);
  const RecordedCall& last = read->at(0).calls.at(2);
  EXPECT_EQ(last.steps[0].params[2].pointers[0].add, 1024);
  EXPECT_EQ(last.scratch, (std::vector<uint64_t>{2048}));
}

TEST(Recording, WhatIsReturnedBecomesATensor) {
  uint64_t next = kBase + (uint64_t{1} << 30);
  const auto inside = [&](uint64_t x, uint64_t) {
    const uint64_t a = next, b = next + (4 << 20);
    next += 16 << 20;
    return fmt::format("alloc {} 64\nalloc {} 4096\n", a, b) +
           launch("p", {bytes(b + 8), bytes(a), bytes(x)}) + fmt::format("result 1 {} 4096\n", b);
  };
  const Outcome found = settled({recording(kBase, inside)});
  ASSERT_TRUE(found.good) << found.refused;
  EXPECT_EQ(found.call.scratch, (std::vector<uint64_t>{64}));
  EXPECT_EQ(found.call.steps[0].params[0].pointers, (std::vector<Pointer>{{0, 1, -1, 8}}));
  EXPECT_EQ(found.call.steps[0].params[1].pointers, (std::vector<Pointer>{{0, -1, 0, 0}}));
}

struct Refused {
  const char* name;
  std::string (*inside)(int call, uint64_t x, uint64_t y);
  const char* why;
};
class RefusedRecording : public testing::TestWithParam<Refused> {};
TEST_P(RefusedRecording, IsNamed) {
  int call = 0;
  const Outcome found = settled(
      {recording(kBase, [&](uint64_t x, uint64_t y) { return GetParam().inside(call++, x, y); })});
  EXPECT_FALSE(found.good);
  EXPECT_NE(found.refused.find(GetParam().why), std::string::npos) << found.refused;
}
INSTANTIATE_TEST_SUITE_P(
    All, RefusedRecording,
    testing::Values(
        Refused{
            "callback",
            [](int, uint64_t x, uint64_t y) { return plain(x, y) + "refuse a host callback\n"; },
            "a host callback"},
        Refused{"cache",
                [](int call, uint64_t x, uint64_t y) {
                  return call == 0 ? plain(x, y) : fmt::format("copy {} {} 16 1 16 16 0\n", y, x);
                },
                "launches differ from call to call"},
        Refused{"counts",
                [](int call, uint64_t x, uint64_t y) {
                  return plain(x, y) + (call == 2 ? "" : plain(x, y));
                },
                "2 steps in one, 1 in the other"},
        Refused{"grid",
                [](int call, uint64_t x, uint64_t) {
                  return launch("k", {bytes(x)}, call == 1 ? 5 : 4);
                },
                "the size of the launch of k"},
        Refused{"host data",
                [](int call, uint64_t, uint64_t y) {
                  return fmt::format("upload {} 0{}00 0\n", y, call);
                },
                "the result depends on host code"},
        Refused{"number",
                [](int call, uint64_t x, uint64_t) {
                  return launch("k", {bytes(x), bytes(static_cast<uint64_t>(call), 4)});
                },
                "parameter 2 of the launch of k"},
        Refused{"earlier tensor",
                [](int, uint64_t, uint64_t) { return launch("k", {bytes(kBase)}); },
                "a tensor of an earlier call"},
        Refused{"freed",
                [](int call, uint64_t x, uint64_t) {
                  const uint64_t a =
                      kBase + (uint64_t{1} << 31) + static_cast<uint64_t>(call << 22);
                  return fmt::format("alloc {} 64\nfree {}\n", a, a) +
                         launch("k", {bytes(x), bytes(a)});
                },
                "after it was freed"},
        Refused{"host memory",
                [](int, uint64_t x, uint64_t) {
                  return std::string("host 4096 64\n") + launch("k", {bytes(x), bytes(4100)});
                },
                "given host memory"},
        Refused{"returns its input",
                [](int, uint64_t x, uint64_t y) {
                  return plain(x, y) + fmt::format("result 1 {} 4096\n", x);
                },
                "one of its inputs"},
        Refused{"returns a part",
                [](int, uint64_t x, uint64_t y) {
                  return plain(x, y) + fmt::format("result 1 {} 16\n", x + 32);
                },
                "a part of something else"},
        Refused{"pointer table",
                [](int, uint64_t x, uint64_t y) {
                  return fmt::format("upload {} {} 0\n", y, bytes(x));
                },
                "a table of pointers"}),
    [](const auto& one) {
      std::string name = one.param.name;
      for (char& c : name) c = c == ' ' ? '_' : c;
      return name;
    });

TEST(Recording, NothingLaunchedAndUnfinishedAreOutsideTheDomain) {
  const Outcome nothing =
      settled({recording(kBase, [](uint64_t, uint64_t) { return std::string(); })});
  EXPECT_EQ(nothing.not_served, "it launches nothing");
  const Outcome failed =
      settled({recording(kBase, [](uint64_t, uint64_t) { return std::string("failed 9 k\n"); })});
  EXPECT_EQ(failed.not_served, "no device accepts its launch of k");
  std::string text = recording(kBase, plain);
  text.resize(text.rfind("end"));
  EXPECT_EQ(settled({text}).not_served, "it did not return");
}

class Damaged : public testing::TestWithParam<const char*> {};
TEST_P(Damaged, IsAnError) {
  EXPECT_FALSE(read_recording(std::string(kHead) + "case 0\ntensor 0 140737488355328 64\ncall\n" +
                              GetParam() + "\n"));
}
INSTANTIATE_TEST_SUITE_P(
    All, Damaged,
    testing::Values("launch", "launch k 1 1", "launch k 1 1 1 1 1 1 0 1 1 1 0 0 5000",
                    "launch k;ls 1 1 1 1 1 1 0 1 1 1 0 0 0", "fill 5 1 1 1 1 1 0",
                    "copy 140737488355328", "move 140737488355328 140737488355328 3 1 2 1 1 0",
                    "move 140737488355328 140737488355328 4 9 2 1 1 0",
                    "move 140737488355328 140737488355328 4 2 2 1 1 0",
                    "move 140737488355328 140737488355328 390 1 2 1 1 0",
                    "move 140737488355328 140737488355328 598 1 2 1 1 0",
                    "upload 140737488355328 xyz 0", "symbol a/b 0 00", "nonsense", "free 77",
                    "launch k 99999999999999999999999 1 1 1 1 1 0 1 1 1 0 0 0"));

TEST(Recording, NoiseIsNoRecording) {
  EXPECT_FALSE(read_recording(""));
  EXPECT_FALSE(read_recording("hello\n"));
  EXPECT_FALSE(read_recording(std::string(kHead) + "launch k 1 1 1 1 1 1 0 1 1 1 0 0 0\n"));
}

}  // namespace
}  // namespace kw::host_recording
