// The suite's kernels as PTX, small enough to be read. Known by name to the fake driver too
// (tests/fake_driver).
#pragma once

namespace kw::gpu_suite {

inline constexpr const char* kKernels = R"(
.version 6.4
.target sm_75
.address_size 64

.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 greeting[21] = {104, 101, 108, 108, 111, 32, 102, 114, 111, 109, 32, 98, 108, 111, 99, 107, 32, 37, 117, 10, 0};
.visible .global .u32 state;

// c[i] = a[i] + b[i]; a null b counts as zeros
.visible .entry vector_add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [c];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p bra done;
  mul.wide.u32 %rd4, %r5, 4;
  add.u64 %rd5, %rd1, %rd4;
  ld.global.f32 %f1, [%rd5];
  mov.f32 %f2, 0f00000000;
  setp.eq.u64 %p, %rd2, 0;
  @%p bra add;
  add.u64 %rd6, %rd2, %rd4;
  ld.global.f32 %f2, [%rd6];
add:
  add.f32 %f3, %f1, %f2;
  add.u64 %rd7, %rd3, %rd4;
  st.global.f32 [%rd7], %f3;
done:
  ret;
}

// y[first + i] = value for i < count
.visible .entry fill(.param .u64 y, .param .s32 first, .param .u32 count, .param .u32 value)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [y];
  ld.param.s32 %r1, [first];
  ld.param.u32 %r2, [count];
  ld.param.u32 %r3, [value];
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %ntid.x;
  mov.u32 %r6, %tid.x;
  mad.lo.u32 %r7, %r4, %r5, %r6;
  setp.ge.u32 %p, %r7, %r2;
  @%p bra done;
  add.s32 %r7, %r7, %r1;
  mul.wide.s32 %rd2, %r7, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
done:
  ret;
}

// ++x[i] for i < count
.visible .entry increment(.param .u64 x, .param .u32 count)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [x];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p bra done;
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r6, [%rd3];
  add.u32 %r6, %r6, 1;
  st.global.u32 [%rd3], %r6;
done:
  ret;
}

// Writes a word at base + offset, wherever that is.
.visible .entry poke(.param .u64 base, .param .u64 offset)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [base];
  ld.param.u64 %rd2, [offset];
  add.u64 %rd3, %rd1, %rd2;
  mov.u32 %r1, 1;
  st.global.u32 [%rd3], %r1;
  ret;
}

.visible .entry trap_now()
{
  trap;
  ret;
}

// Keeps one thread busy for so many nanoseconds; for ever when all bits are set.
.visible .entry spin(.param .u64 nanoseconds)
{
  .reg .pred %p;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [nanoseconds];
  mov.u64 %rd2, %globaltimer;
loop:
  mov.u64 %rd3, %globaltimer;
  sub.u64 %rd4, %rd3, %rd2;
  setp.lt.u64 %p, %rd4, %rd1;
  @%p bra loop;
  ret;
}

// Writes and reads back the last of `words` words of dynamic shared memory.
.extern .shared .align 16 .b8 dynamic[];
.visible .entry shared_last(.param .u64 out, .param .u32 words)
{
  .reg .b32 %r<6>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [words];
  mov.u32 %r2, dynamic;
  shl.b32 %r3, %r1, 2;
  add.u32 %r4, %r2, %r3;
  st.volatile.shared.u32 [%r4+-4], %r1;
  bar.sync 0;
  ld.volatile.shared.u32 %r5, [%r4+-4];
  st.global.u32 [%rd1], %r5;
  ret;
}

// Every block waits until all blocks have arrived, then says how many it saw.
.visible .entry grid_meet(.param .u64 counter, .param .u64 out, .param .u32 blocks)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [counter];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [blocks];
  atom.global.add.u32 %r2, [%rd1], 1;
loop:
  ld.volatile.global.u32 %r3, [%rd1];
  setp.lt.u32 %p, %r3, %r1;
  @%p bra loop;
  mov.u32 %r4, %ctaid.x;
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r3;
  ret;
}

// Copies `count` 16-byte words.
.visible .entry copy16(.param .u64 from, .param .u64 to, .param .u64 count)
{
  .reg .pred %p;
  .reg .b32 %r<12>;
  .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  ld.param.u64 %rd3, [count];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %rd4, %r1, %r2;
  cvt.u64.u32 %rd5, %r3;
  add.u64 %rd4, %rd4, %rd5;
  mul.wide.u32 %rd5, %r4, %r2;
loop:
  setp.ge.u64 %p, %rd4, %rd3;
  @%p bra done;
  shl.b64 %rd6, %rd4, 4;
  add.u64 %rd7, %rd1, %rd6;
  ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd7];
  add.u64 %rd8, %rd2, %rd6;
  st.global.v4.u32 [%rd8], {%r5, %r6, %r7, %r8};
  add.u64 %rd4, %rd4, %rd5;
  bra loop;
done:
  ret;
}

// printf("hello from block %u\n", blockIdx.x)
.visible .entry hello()
{
  .local .align 8 .b8 frame[8];
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  mov.u64 %rd1, frame;
  cvta.local.u64 %rd2, %rd1;
  mov.u32 %r1, %ctaid.x;
  st.local.u32 [%rd1], %r1;
  mov.u64 %rd3, greeting;
  cvta.global.u64 %rd3, %rd3;
  {
    .param .b64 format;
    .param .b64 arguments;
    .param .b32 result;
    st.param.b64 [format], %rd3;
    st.param.b64 [arguments], %rd2;
    call.uni (result), vprintf, (format, arguments);
    ld.param.b32 %r2, [result];
  }
  ret;
}

// Remembers calls in a module-level variable.
.visible .entry bump_state(.param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  mov.u64 %rd2, state;
  ld.global.u32 %r1, [%rd2];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd2], %r1;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

/// Needs sm_90: out[block] = rank of the block in its cluster.
inline constexpr const char* kClusterKernel = R"(
.version 7.8
.target sm_90
.address_size 64
.visible .entry cluster_rank(.param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %cluster_ctarank;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r2;
  ret;
}
)";

}  // namespace kw::gpu_suite
