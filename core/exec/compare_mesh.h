// SPDX-License-Identifier: Apache-2.0
// A program on whole arrays beside the one that devices run on their parts: both in step, every
// value compared as soon as it is there. What the devices hold is put together as the partition
// says; terms of a sum are added up first. A complete value that agrees is then made equal to the
// last bit (padding excepted), so that every op is judged on the operands of one device: nothing
// adds up, and the first difference is where it arises.
#pragma once

#include "core/exec/interpreter.h"
#include "core/sharding/partition.h"

#include <optional>
#include <string>
#include <vector>

namespace weft::exec {

/// When two values agree: no difference larger than `relative` times the value's largest magnitude.
/// Where the terms of a sum cancel, what is left is their rounding: a value counts for at least
/// `cancelled` times the magnitude of its operands.
struct Agreement {
    double relative = 0;
    double cancelled = 0;
};
/// One op on equal operands: f64 rounds to 1e-16, a sum of a million terms at worst to 1e-10.
inline constexpr Agreement kAgreeInF64{1e-9, 1e-4};
/// One op on equal operands: f32 rounds to 6e-8, long sums and products of them to 1e-4.
inline constexpr Agreement kAgreeInF32{1e-3, 1e-2};

/// Where a mesh first differs.
struct OpDifference {
    std::string kind; // of the op; "result" where a result is placed wrongly
    std::string path;
    ir::Phase phase = ir::Phase::forward;
    std::string value; // its name, or which output of the op it is
    ir::Type type;
    int device = 0;
    bool summed = false; // the devices hold terms; `device` is the first of those added up
    double relative = 0;
    std::vector<std::string> on_devices; // the ops that devices run for it, exchanges with cause
};

struct MeshComparison {
    std::int64_t values = 0; // compared, in all iterations of loops
    double largest = 0;      // relative difference of those that agree
    std::optional<OpDifference> first;
    std::vector<Tensor> results; // of the whole program; empty where it differs
};

/// Keeps references to all it is given; kernels are prepared once for any number of calls.
class MeshComparer {
public:
    MeshComparer(const ir::Program& whole, const sharding::PartitionedProgram& local,
                 const sharding::Mesh& mesh, const InterpretOptions& options, Agreement agreement);

    /// Whole arrays, one per argument of the whole program.
    MeshComparison run(std::span<const Tensor> arguments);

private:
    /// Ops of a local block that have been run.
    struct Cursor {
        const ir::Block& block;
        std::size_t next = 0;
    };

    void walk(const ir::Block& whole, const ir::Block& local);
    void walk_loop(const ir::Op& whole, const ir::Op& local);
    void run_next(Cursor& at);
    void advance(const ir::Op& op, Cursor& at);
    void begin(const ir::Block& local);
    bool agrees(const ir::Op& op, ir::ValueId output, const Cursor& at, std::size_t first);
    double magnitude_of(ir::ValueId id);
    double operand_magnitude(const ir::Op& op, ir::ValueId output);
    void note_terms(ir::ValueId id);
    bool result_agrees(std::size_t index);
    /// Null: agrees. Else device and difference.
    struct Off {
        int device = 0;
        double relative = 0;
    };
    std::optional<Off> off_by(const Tensor& expected, ir::ValueId id,
                              const sharding::Sharding& placement, double least_magnitude);
    void make_equal(const Tensor& expected, ir::ValueId id, const sharding::Sharding& placement);

    const ir::Program& whole_;
    const sharding::PartitionedProgram& local_;
    const sharding::Mesh& mesh_;
    const Agreement agreement_;
    Interpreter one_;
    Interpreter many_;
    std::vector<bool> made_;         // [value of the local program]
    std::vector<double> magnitudes_; // [value of the whole program] -1: not known
    std::vector<double> terms_;      // [value of the whole program] of what devices add up
    MeshComparison out_;
};

} // namespace weft::exec
