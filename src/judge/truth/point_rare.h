// Pointwise ops that are not smooth or not common, and how jumps pass through any op. Internal to
// pointwise.cpp.
#pragma once

#include "truth/jump_rules.h"
#include "truth/pointwise.h"

namespace kw::truth {

/// Floor and similar ops, and casts of floats to integers. If a step lies within the argument's
/// error, the result may be on either side of it.
void step(const PointSpec& spec, std::span<const ChunkOperand> in, int count, VectorLanes& out);

/// Casts to floats of 8 bits that the program computes with. Next to the middle between two values
/// of the format the result may be either.
void snap(const PointSpec& spec, const ChunkOperand& x, int count, VectorLanes& out);

/// Pow, Atan2, Fmod, Remainder, Copysign, Hypot.
void rare_binary(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int count,
                 VectorLanes& out);

void compare_floats(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z, int count,
                    VectorLanes& out);
void compare_integers(const PointSpec& spec, const ChunkOperand& x, const ChunkOperand& z,
                      int count, VectorLanes& out);

/// IsNan, IsInf, Not of floats.
void classify(const PointSpec& spec, const ChunkOperand& x, int count, VectorLanes& out);

void integer_point(const PointSpec& spec, std::span<const ChunkOperand> in, int count,
                   VectorLanes& out);

/// Where.
void choose(const PointSpec& spec, std::span<const ChunkOperand> in, int count, VectorLanes& out);

/// Whether an addition to a sum may leave the range if a kernel starts the sum with what is added.
bool joins_far(const PointSpec& spec, std::span<const ChunkOperand> in, int count);
/// Reports results beyond the range of their type, and applies the limits of this run.
void limit_range(const PointSpec& spec, std::span<const ChunkOperand> in, int count,
                 VectorLanes& out);
/// Gives a result that underflowed to zero the least error: the real value is not zero.
void doubt_zeros(const PointSpec& spec, std::span<const ChunkOperand> in, int count,
                 VectorLanes& out);

/// Widens lo and hi of the result to include the results at the operands' jumps.
void carry_jumps(const PointSpec& spec, std::span<const ChunkOperand> in, int count,
                 VectorLanes& out);

/// Returns the largest distance of a float operand from its value: 4 a + h.
double reach_of(const ChunkOperand& x, int k);
/// Widens the jump of one element.
void add_jump(const Jump& jump, int k, int count, VectorLanes& out);
/// Enables jumps in `out`; sets them to zero if they were not enabled.
void open_jumps(int count, VectorLanes& out);

}  // namespace kw::truth
