// Which special registers PTX may read, and what may depend on a clock.
#include "ptx/machine_reads.h"

#include <gtest/gtest.h>

namespace kw::ptx {
namespace {

struct ReadCase {
  const char* name;
  const char* body;
  const char* message;  // "": allowed
};
void PrintTo(const ReadCase& c, std::ostream* out) { *out << c.name; }

std::string entry_of(const char* body) {
  return std::string(
             ".version 8.0\n.target sm_80\n.address_size 64\n"
             ".visible .entry k(.param .u64 y) {\n.reg .pred %p<9>;\n.reg .b32 %r<20>;\n"
             ".reg .b64 %rd<20>;\nld.param.u64 %rd1, [y];\n") +
         body + "\nret;\n}\n";
}

class MachineReads : public ::testing::TestWithParam<ReadCase> {};

TEST_P(MachineReads, AreJudged) {
  const ReadCase& c = GetParam();
  const auto found = forbidden_reads(std::string_view(entry_of(c.body)));
  if (*c.message == 0) {
    EXPECT_TRUE(found.empty()) << found.front().message;
  } else {
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front().message, c.message);
    EXPECT_GT(found.front().ptx_line, 8);
  }
}

// What cuda::barrier does: it polls, and sleeps for a quarter of the time that it has waited.
constexpr const char* kBackOff = R"(
mov.u64 %rd2, %globaltimer;
mov.u32 %r1, 0;
L: ld.acquire.gpu.global.u32 %r2, [%rd1];
setp.ne.u32 %p1, %r2, 0;
@%p1 bra D;
setp.lt.s32 %p2, %r1, 16;
@%p2 bra C;
mov.u64 %rd3, %globaltimer;
sub.s64 %rd4, %rd3, %rd2;
setp.lt.s64 %p3, %rd4, 4000000;
@%p3 bra S;
mov.u32 %r3, 1000000;
nanosleep.u32 %r3;
bra L;
S: setp.lt.s64 %p4, %rd4, 40000;
@%p4 bra L;
shr.u64 %rd5, %rd4, 2;
cvt.u32.u64 %r4, %rd5;
nanosleep.u32 %r4;
bra L;
C: add.s32 %r1, %r1, 1;
bra L;
D: st.global.u32 [%rd1], %r2;
)";

INSTANTIATE_TEST_SUITE_P(
    Cases, MachineReads,
    ::testing::Values(
        ReadCase{"Places", "mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; mov.u32 %r3, %lanemask_lt;",
                 ""},
        ReadCase{"BackOff", kBackOff, ""},
        ReadCase{"ReadButNotUsed", "mov.u64 %rd2, %clock64;", ""},
        ReadCase{"GridBarrier", "mov.u32 %r1, %envreg2; mov.u32 %r2, %envreg1;", ""},
        ReadCase{"OtherEnvironment", "mov.u32 %r1, %envreg0;", "reads %envreg"},
        ReadCase{"Sm", "mov.u32 %r1, %smid;", "reads %smid"},
        ReadCase{"SmCount", "mov.u32 %r1, %nsmid;", "reads %nsmid"},
        ReadCase{"Warp", "mov.u32 %r1, %warpid;", "reads %warpid"},
        ReadCase{"Launch", "mov.u64 %rd2, %gridid;", "reads %gridid"},
        ReadCase{"UnknownRegister", "mov.u32 %r1, %pm3;", "reads %pm3"},
        ReadCase{"Stored", "mov.u32 %r1, %clock; add.s32 %r2, %r1, 1; st.global.u32 [%rd1], %r2;",
                 "stores a value that depends on %clock"},
        ReadCase{"Address",
                 "mov.u64 %rd2, %clock64; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r2, [%rd3];",
                 "loads from an address or under a condition that is a value that depends on "
                 "%clock64"},
        ReadCase{"Selected",
                 "mov.u32 %r1, %clock_hi; setp.gt.u32 %p1, %r1, 9; selp.u32 %r2, 1, 2, %p1; "
                 "st.global.u32 [%rd1], %r2;",
                 "stores a value that depends on %clock_hi"},
        ReadCase{"GuardsAStore",
                 "mov.u32 %r1, %globaltimer_lo; setp.gt.u32 %p1, %r1, 9; @%p1 st.global.u32 "
                 "[%rd1], 1;",
                 "stores a value that depends on %globaltimer_lo"},
        ReadCase{"Branches",
                 "mov.u32 %r1, %clock; setp.gt.u32 %p1, %r1, 9; @%p1 bra A; st.global.u32 [%rd1], "
                 "1; A:",
                 "decides where to continue by a value that depends on %clock"},
        ReadCase{"Delays",
                 "mov.u64 %rd2, %clock64; L: mov.u64 %rd3, %clock64; sub.s64 %rd4, %rd3, %rd2; "
                 "setp.lt.s64 %p1, %rd4, 1000; @%p1 bra L;",
                 "decides where to continue by a value that depends on %clock64"},
        ReadCase{"DelaysAndPolls",
                 "mov.u64 %rd2, %clock64; L: ld.volatile.global.u32 %r1, [%rd1]; nanosleep.u32 9; "
                 "mov.u64 %rd3, %clock64; sub.s64 %rd4, %rd3, %rd2; setp.lt.s64 %p1, %rd4, 1000; "
                 "@%p1 bra L;",
                 "decides where to continue by a value that depends on %clock64"},
        ReadCase{"DelaysInALoopThatPolls",
                 "O: ld.volatile.global.u32 %r1, [%rd1]; mov.u64 %rd2, %clock64; "
                 "L: mov.u64 %rd3, %clock64; sub.s64 %rd4, %rd3, %rd2; setp.lt.s64 %p1, %rd4, 99; "
                 "@%p1 bra L; setp.eq.u32 %p2, %r1, 0; @%p2 bra O;",
                 "decides where to continue by a value that depends on %clock64"},
        ReadCase{"CountsRounds",
                 "mov.u32 %r3, 0; L: ld.volatile.global.u32 %r1, [%rd1]; mov.u64 %rd2, %clock64; "
                 "setp.lt.s64 %p1, %rd2, 99; @%p1 bra N; add.s32 %r3, %r3, 1; "
                 "N: setp.eq.u32 %p2, %r1, 0; @%p2 bra L; st.global.u32 [%rd1], %r3;",
                 "stores a value that depends on %clock64"},
        ReadCase{"GivesUp",
                 "mov.u64 %rd2, %globaltimer; L: ld.volatile.global.u32 %r1, [%rd1]; "
                 "setp.ne.u32 %p1, %r1, 0; @%p1 bra D; mov.u64 %rd3, %globaltimer; "
                 "sub.s64 %rd4, %rd3, %rd2; setp.lt.s64 %p2, %rd4, 9999; @%p2 bra L; "
                 "st.global.u32 [%rd1], 7; D:",
                 "decides where to continue by a value that depends on %globaltimer"},
        ReadCase{"SleepsByTheClock", "mov.u32 %r1, %clock; nanosleep.u32 %r1;",
                 "sleeps outside a loop that polls memory for a value that depends on %clock"},
        ReadCase{"Shuffled",
                 "mov.u32 %r1, %clock; shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; st.global.u32 "
                 "[%rd1], %r2;",
                 "uses a value that depends on %clock"}),
    [](const auto& row) { return row.param.name; });

TEST(MachineReads, AreFollowedInEveryFunction) {
  const std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".func (.param .b64 result) now() {\n.reg .b64 %rd<3>;\nmov.u64 %rd1, %clock64;\n"
      "st.param.b64 [result], %rd1;\nret;\n}\n" +
      entry_of("").substr(entry_of("").find(".visible"));
  const auto found = forbidden_reads(std::string_view(text));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].message, "passes to a function or returns a value that depends on %clock64");
}

TEST(MachineReads, OfKernelsThatAreNotLaunchedDoNotMatter) {
  const std::string text = entry_of("mov.u32 %r1, %smid;");
  EXPECT_FALSE(forbidden_reads(std::string_view(text), {"k"}).empty());
  EXPECT_TRUE(forbidden_reads(std::string_view(text), {"other"}).empty());
}

}  // namespace
}  // namespace kw::ptx
