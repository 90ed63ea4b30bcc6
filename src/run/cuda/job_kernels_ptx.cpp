// The PTX of cuda/jobs.h. A grid has one row of blocks (y) per job; the blocks of a row stride over
// its bytes. 16-byte accesses where every address allows them, single bytes elsewhere.
#include "cuda/jobs.h"

namespace kw::cuda {
namespace {

// Reads job ctaid.y into %to, %from, %bytes; %i is the thread's first index, %step the stride.
#define KW_JOB_START                                               \
  "  .reg .pred %p, %wide;\n"                                      \
  "  .reg .b32 %r<16>;\n"                                          \
  "  .reg .b64 %to, %from, %bytes, %i, %step, %at, %n, %rd<24>;\n" \
  "  ld.param.u64 %rd0, [jobs];\n"                                 \
  "  mov.u32 %r0, %ctaid.y;\n"                                     \
  "  mul.wide.u32 %rd1, %r0, 24;\n"                                \
  "  add.u64 %rd0, %rd0, %rd1;\n"                                  \
  "  ld.global.u64 %to, [%rd0];\n"                                 \
  "  ld.global.u64 %from, [%rd0+8];\n"                             \
  "  ld.global.u64 %bytes, [%rd0+16];\n"                           \
  "  mov.u32 %r1, %ctaid.x;\n"                                     \
  "  mov.u32 %r2, %ntid.x;\n"                                      \
  "  mov.u32 %r3, %tid.x;\n"                                       \
  "  mov.u32 %r4, %nctaid.x;\n"                                    \
  "  mul.wide.u32 %i, %r1, %r2;\n"                                 \
  "  cvt.u64.u32 %rd1, %r3;\n"                                     \
  "  add.u64 %i, %i, %rd1;\n"                                      \
  "  mul.wide.u32 %step, %r4, %r2;\n"

// %rd20 += audit_mix(word, index, %rd21); clobbers %rd22 and %rd23.
#define KW_MIX(word, index)                          \
  "  xor.b64 %rd22, " word                           \
  ", %rd21;\n"                                       \
  "  mul.lo.u64 %rd22, %rd22, 0x9fb21c651e98df25;\n" \
  "  shr.u64 %rd23, %rd22, 32;\n"                    \
  "  xor.b64 %rd22, %rd22, %rd23;\n"                 \
  "  add.u64 %rd23, " index                          \
  ", 1;\n"                                           \
  "  mul.lo.u64 %rd23, %rd23, 0x9e3779b97f4a7c15;\n" \
  "  add.u64 %rd22, %rd22, %rd23;\n"                 \
  "  mul.lo.u64 %rd22, %rd22, 0xd6e8feb86659fd93;\n" \
  "  shr.u64 %rd23, %rd22, 32;\n"                    \
  "  xor.b64 %rd22, %rd22, %rd23;\n"                 \
  "  add.u64 %rd20, %rd20, %rd22;\n"

// Adds the %rd20 of the lane `distance` further on.
#define KW_FOLD(distance)                    \
  "  mov.b64 {%r8, %r9}, %rd20;\n"           \
  "  shfl.sync.down.b32 %r8, %r8, " distance \
  ", 31, 0xffffffff;\n"                      \
  "  shfl.sync.down.b32 %r9, %r9, " distance \
  ", 31, 0xffffffff;\n"                      \
  "  mov.b64 %rd22, {%r8, %r9};\n"           \
  "  add.u64 %rd20, %rd20, %rd22;\n"

constexpr const char* kJobsPtx = R"(
.version 6.4
.target sm_75
.address_size 64

.visible .entry kw_copy_jobs(.param .u64 jobs)
{
)" KW_JOB_START R"(
  or.b64 %rd2, %to, %from;
  and.b64 %rd2, %rd2, 15;
  setp.eq.u64 %wide, %rd2, 0;
  shr.u64 %n, %bytes, 4;
  selp.u64 %n, %n, 0, %wide;
  mov.u64 %at, %i;
wide:
  setp.ge.u64 %p, %at, %n;
  @%p bra tail;
  shl.b64 %rd3, %at, 4;
  add.u64 %rd4, %from, %rd3;
  add.u64 %rd5, %to, %rd3;
  ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd4];
  st.global.v4.u32 [%rd5], {%r8, %r9, %r10, %r11};
  add.u64 %at, %at, %step;
  bra wide;
tail:
  shl.b64 %rd3, %n, 4;
  add.u64 %at, %i, %rd3;
narrow:
  setp.ge.u64 %p, %at, %bytes;
  @%p bra done;
  add.u64 %rd4, %from, %at;
  add.u64 %rd5, %to, %at;
  ld.global.u8 %r8, [%rd4];
  st.global.u8 [%rd5], %r8;
  add.u64 %at, %at, %step;
  bra narrow;
done:
  ret;
}

.visible .entry kw_fill_jobs(.param .u64 jobs)
{
)" KW_JOB_START R"(
  cvt.u32.u64 %r8, %from;
  and.b64 %rd2, %to, 15;
  setp.eq.u64 %wide, %rd2, 0;
  shr.u64 %n, %bytes, 4;
  selp.u64 %n, %n, 0, %wide;
  mov.u64 %at, %i;
wide:
  setp.ge.u64 %p, %at, %n;
  @%p bra tail;
  shl.b64 %rd3, %at, 4;
  add.u64 %rd5, %to, %rd3;
  st.global.v4.u32 [%rd5], {%r8, %r8, %r8, %r8};
  add.u64 %at, %at, %step;
  bra wide;
tail:
  shl.b64 %rd3, %n, 4;
  add.u64 %at, %i, %rd3;
narrow:
  setp.ge.u64 %p, %at, %bytes;
  @%p bra done;
  add.u64 %rd5, %to, %at;
  cvt.u32.u64 %r9, %rd5;
  and.b32 %r9, %r9, 3;
  shl.b32 %r9, %r9, 3;
  shr.u32 %r10, %r8, %r9;
  st.global.u8 [%rd5], %r10;
  add.u64 %at, %at, %step;
  bra narrow;
done:
  ret;
}

.visible .entry kw_hash_jobs(.param .u64 jobs, .param .u64 seed, .param .u64 out)
{
)" KW_JOB_START R"(
  ld.param.u64 %rd21, [seed];
  mov.u64 %rd20, 0;
  and.b64 %rd2, %to, 15;
  setp.eq.u64 %wide, %rd2, 0;
  shr.u64 %n, %bytes, 4;
  selp.u64 %n, %n, 0, %wide;
  mov.u64 %at, %i;
wide:
  setp.ge.u64 %p, %at, %n;
  @%p bra tail;
  shl.b64 %rd3, %at, 4;
  add.u64 %rd4, %to, %rd3;
  ld.global.v2.u64 {%rd5, %rd6}, [%rd4];
  shl.b64 %rd7, %at, 1;
)" KW_MIX("%rd5", "%rd7") R"(
  add.u64 %rd7, %rd7, 1;
)" KW_MIX("%rd6", "%rd7") R"(
  add.u64 %at, %at, %step;
  bra wide;
tail:
  shl.b64 %rd3, %n, 1;
  add.u64 %at, %i, %rd3;
  add.u64 %n, %bytes, 7;
  shr.u64 %n, %n, 3;
words:
  setp.ge.u64 %p, %at, %n;
  @%p bra fold;
  shl.b64 %rd8, %at, 3;
  sub.u64 %rd9, %bytes, %rd8;
  min.u64 %rd9, %rd9, 8;
  add.u64 %rd10, %to, %rd8;
  mov.u64 %rd5, 0;
  mov.u64 %rd11, 0;
bytes:
  add.u64 %rd12, %rd10, %rd11;
  ld.global.u8 %rd13, [%rd12];
  cvt.u32.u64 %r8, %rd11;
  shl.b32 %r8, %r8, 3;
  shl.b64 %rd13, %rd13, %r8;
  or.b64 %rd5, %rd5, %rd13;
  add.u64 %rd11, %rd11, 1;
  setp.lt.u64 %p, %rd11, %rd9;
  @%p bra bytes;
)" KW_MIX("%rd5", "%at") R"(
  add.u64 %at, %at, %step;
  bra words;
fold:
)" KW_FOLD("16") KW_FOLD("8") KW_FOLD("4") KW_FOLD("2") KW_FOLD("1") R"(
  and.b32 %r9, %r3, 31;
  setp.ne.u32 %p, %r9, 0;
  @%p bra done;
  ld.param.u64 %rd10, [out];
  mul.wide.u32 %rd11, %r0, 8;
  add.u64 %rd10, %rd10, %rd11;
  red.global.add.u64 [%rd10], %rd20;
done:
  ret;
}
)";

#undef KW_JOB_START
#undef KW_MIX
#undef KW_FOLD

}  // namespace

const char* job_kernels_ptx() { return kJobsPtx; }

}  // namespace kw::cuda
