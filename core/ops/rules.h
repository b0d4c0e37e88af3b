// SPDX-License-Identifier: Apache-2.0
// What the op families share when they write records: error texts, type rules, factor rules in
// einsum notation and small gradient helpers. Private to core/ops.
#pragma once

#include "core/ops/gradient.h"
#include "core/ops/op_def.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace weft::ops {

// --- Texts -------------------------------------------------------------------------------------

inline std::string word(std::string_view text) {
    return std::string(text);
}
inline std::string word(std::int64_t number) {
    return std::to_string(number);
}
inline std::string word(int number) {
    return std::to_string(number);
}
inline std::string word(const ir::Shape& shape) {
    return ir::to_text(shape);
}
inline std::string word(const ir::Type& type) {
    return ir::to_text(type);
}
inline std::string word(ir::DType dtype) {
    return std::string(ir::dtype_name(dtype));
}

/// A rejected op: the parts joined without separators.
template <typename... Parts>
Inferred fail(const Parts&... parts) {
    return Inferred::failure((std::string() + ... + word(parts)));
}

// --- Attributes --------------------------------------------------------------------------------

/// Of products.
inline constexpr AttributeDef kOperands{
    "operands", AttributeKind::text, false,
    "formats that the operands are rounded to first: tf32, or e4m3 or e5m2 for each, scaled"};
/// What is wrong with it; empty: nothing. `eight_bits`: e4m3 and e5m2 are taken.
std::string want_operands(const OpView& view, bool eight_bits);

// --- Types -------------------------------------------------------------------------------------

/// Result type of arithmetic on two float types: the same, or f32 for two of them. None for f64
/// with another and for integers.
std::optional<ir::DType> promote(ir::DType a, ir::DType b);
/// Type of losses and statistics taken from values of type x: f32, or f64 for f64.
ir::DType statistics_dtype(ir::DType x);
/// Right-aligned broadcasting; none when an extent differs and is not 1.
std::optional<ir::Shape> broadcast_shapes(const ir::Shape& a, const ir::Shape& b);
/// The extents of an attribute such as `shape`; none when one is negative or there are too many.
std::optional<ir::Shape> shape_of_list(const std::vector<std::int64_t>& extents);
std::vector<std::int64_t> list_of_shape(const ir::Shape& shape);
/// All extents but the last `count`.
ir::Shape leading(const ir::Shape& shape, int count = 1);
ir::Shape with_last(ir::Shape leading_extents, std::int64_t last);

/// The words behind "x" when an operand does not have the rank, type or shape asked for; empty:
/// fine.
std::string want_float(std::string_view name, const ir::Type& type);
std::string want_integer(std::string_view name, const ir::Type& type);
std::string want_rank(std::string_view name, const ir::Type& type, int rank);
std::string want_shape(std::string_view name, const ir::Type& type, const ir::Shape& shape);
/// The random operand is i64[3] = {seed, step, first sample}.
std::string want_random(const ir::Type& type);
/// The position operand of decoding is i64[].
std::string want_position(const ir::Type& type);
/// The first text that is not empty.
std::string first_of(std::initializer_list<std::string> texts);

// --- Factors -----------------------------------------------------------------------------------

/// How one letter of the notation combines; '.' stands for every dimension behind an ellipsis.
struct Mark {
    char factor;
    Combine combine;
    double neutral = 0.0;
};

/// A rule from einsum-like notation, one letter per dimension: "...k,kn->...n". "(kg)" is one
/// dimension made of k (major) and g; operands beyond those that the op has are left out.
FactorRule einsum(const OpView& view, std::string_view notation,
                  std::initializer_list<Mark> marks = {});
/// Every output dimension is a factor; inputs take part where they are not broadcast.
FactorRule elementwise_factors(const OpView& view);
/// Every dimension of every operand stands alone and must stay whole.
FactorRule whole_factors(const OpView& view);

/// Appends factors to a rule by hand, for rules that depend on the shapes.
class RuleBuilder {
public:
    explicit RuleBuilder(const OpView& view);
    int add(std::int64_t size, Combine combine = Combine::pointwise, double neutral = 0.0);
    void input(int operand, int dim, int factor) {
        slot(rule_.inputs, operand, dim).push_back(factor);
    }
    void output(int operand, int dim, int factor) {
        slot(rule_.outputs, operand, dim).push_back(factor);
    }
    /// Gives the dimensions that have no factor yet one of their own that must stay whole.
    FactorRule finish();

private:
    using Operands = std::vector<std::vector<std::vector<int>>>;
    static std::vector<int>& slot(Operands& operands, int operand, int dim) {
        return operands[static_cast<std::size_t>(operand)][static_cast<std::size_t>(dim)];
    }
    const OpView& view_;
    FactorRule rule_;
};

/// Record function: attribute `shape` becomes that of the local output.
ir::Attributes localise_shape(const OpView& view, std::span<const ir::Type> inputs,
                              std::span<const ir::Type> outputs);

// --- Costs -------------------------------------------------------------------------------------

/// Bytes of all operands, read or written once.
double operand_bytes(const OpView& view);
/// flops with the bytes of all operands.
OpCost cost(const OpView& view, double flops);
/// FLOPs of one e^x by range reduction and a polynomial, and of one random number by Philox.
constexpr double kExpFlops = 20;
constexpr double kRandomFlops = 16; // ten rounds give four values, plus the conversion
/// As cost, where all of the arithmetic is matrix products.
OpCost product_cost(const OpView& view, double flops);

// --- Records ------------------------------------------------------------------------------------

inline constexpr AttributeDef kShapeAttribute{"shape", AttributeKind::list, true,
                                              "extents of the result"};

/// For ops that are linear in all operands at once: sums of partial sums are partial sums.
inline Partial together(const OpView&) {
    return Partial::together;
}

// --- Gradients ---------------------------------------------------------------------------------

/// For ops whose derivative is zero almost everywhere (sign, comparisons): sets nothing.
void zero_gradient(GradientContext& context);
/// Rules of ops with several outputs, of which only the first is differentiable, call this first.
/// Throws weft::Error{usage} when a gradient arrives at another one.
void only_first_output(const GradientContext& context);

// --- Norms -------------------------------------------------------------------------------------

/// x is float with a feature dimension, and the named vectors have its extent; empty: fine.
std::string want_features(const OpView& view,
                          std::initializer_list<std::pair<std::string_view, int>> vectors);
OpCost norm_cost(const OpView& view);

} // namespace weft::ops
