// SPDX-License-Identifier: Apache-2.0
// The record of an op: everything the compiler knows about it. One file per op family defines records;
// op_list.h lists them. Propagation, partition, cost and fusion see only what the record says, never
// the op's name.
#pragma once

#include "core/ir/program.h"

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::ops {

class GradientContext; // core/ops/gradient.h
class SplitContext;    // core/ops/split.h

/// Read-only view of one op in a program, as the record's functions see it.
struct OpView {
    const ir::Program& program;
    const ir::Op& op;

    int inputs() const { return static_cast<int>(op.inputs.size()); }
    int outputs() const { return static_cast<int>(op.outputs.size()); }
    const ir::Type& input(int i) const { return program.type(op.inputs[static_cast<std::size_t>(i)]); }
    const ir::Type& output(int i) const {
        return program.type(op.outputs[static_cast<std::size_t>(i)]);
    }
    const ir::Attributes& attributes() const { return op.attributes; }
};

/// Output types, or what is wrong in words for the user ("inner dimensions 784 and 512 differ").
struct Inferred {
    std::vector<ir::Type> outputs;
    std::string error;

    static Inferred failure(std::string text) { return {{}, std::move(text)}; }
};

/// What is left to do when a factor is split over devices. An op with several outputs may split one
/// along a `sum` factor while another, which lacks it, becomes a partial sum.
enum class Combine : std::uint8_t {
    pointwise, // appears in every output: each device computes its part
    sum,       // contracted by addition: outputs that lack it are partial sums
    max,       // contracted by maximum
    custom,    // split by the record's `split` function, which makes complete outputs
    whole,     // must not be split: the op needs the whole dimension
};

/// One einsum-like index of an op.
struct Factor {
    std::string name; // "i", "k", ...: for dumps
    std::int64_t size = 1;
    Combine combine = Combine::pointwise;
    double neutral = 0.0; // what padding along this factor must hold so that the result is unchanged
};

/// Which factors make up each dimension: inputs[operand][dim] = factor indices, major to minor.
struct FactorRule {
    std::vector<Factor> factors;
    std::vector<std::vector<std::vector<int>>> inputs;
    std::vector<std::vector<std::vector<int>>> outputs;
};

/// Whether partial sums may go through an op instead of being added up before it.
enum class Partial : std::uint8_t {
    resolve,  // no: f(a + b) is not f(a) + f(b)
    together, // f(a + b, c + d) = f(a, c) + f(b, d): all float operands are partial alike
    product,  // linear in each operand: at most one is partial
};

/// FLOPs (multiply-add = 2) and bytes moved to and from memory, of one execution. `products` are those of
/// the FLOPs that matrix products and convolutions make: they run in matrix units where there are any,
/// and they are what a utilisation (MFU) counts.
struct OpCost {
    double flops = 0;
    double bytes = 0;
    double products = 0;
};

/// Role of floating-point operands under a lower compute precision (passes/precision).
enum class Precision : std::uint8_t {
    follows, // runs in the compute precision
    full,    // always f32 (losses, norms, optimizer)
};

/// Output `output` may be written over input `input` when that input is not needed afterwards and both
/// have the same type.
struct Alias {
    int output;
    int input;
};

enum class AttributeKind : std::uint8_t { flag, integer, real, text, list };

struct AttributeDef {
    std::string_view name;
    AttributeKind kind;
    bool required;
    std::string_view help;
};

struct OpDef {
    std::string_view name;
    std::string_view help; // one line with shapes
    int min_inputs = 1;
    int max_inputs = 1;
    std::vector<AttributeDef> attributes{};
    Inferred (*infer)(const OpView&) = nullptr; // outputs of the view are not set yet
    void (*gradient)(GradientContext&) = nullptr; // null: not differentiable
    FactorRule (*factors)(const OpView&) = nullptr;
    OpCost (*cost)(const OpView&) = nullptr; // null: `element_flops` per output element
    /// Attributes of the op on one device's parts, where they name extents; null: as they are.
    ir::Attributes (*localise)(const OpView&, std::span<const ir::Type> local_inputs,
                               std::span<const ir::Type> local_outputs) = nullptr;
    /// The op on one device's parts, where local types and attributes do not say it; null: they do.
    void (*split)(SplitContext&) = nullptr;
    Partial (*partial)(const OpView&) = nullptr; // null: resolve
    std::vector<Alias> aliases{};
    bool over_operands = false; // output i is an alias of input i, of any number
    Precision precision = Precision::follows;
    std::vector<int> full_inputs{};  // with `follows`: inputs that stay f32 all the same (norm gains)
    std::vector<int> full_outputs{}; // with `follows`: outputs that stay f32 (statistics)
    std::vector<int> wide_outputs{}; // with `follows`: outputs that may be f32 when only full-precision
                                   // ops read them (weight gradients); sets attribute wide=true
    double element_flops = 1; // of one output element; a function counts its usual polynomial
    int elementwise = -1; // opcode of kernels/weft_kernels.h (weft_elementwise); -1: not elementwise
    bool view = false;    // output 0 is input 0 under another shape: no kernel, no memory
    bool random = false;  // depends on the random key: never merged by common-subexpression removal
    bool collective = false; // devices exchange data: run by the mesh, not by a kernel
};

/// The record of an op kind; null when there is none.
const OpDef* find_op(ir::Name kind);
/// As find_op, but a missing record is a programmer fault.
const OpDef& op_def(ir::Name kind);
/// Every record, in list order.
std::span<const OpDef* const> all_ops();

/// Cost of one execution of an op (the record's own or the elementwise default); a structured op costs
/// its body times its count.
OpCost cost_of(const OpView& view);

} // namespace weft::ops
