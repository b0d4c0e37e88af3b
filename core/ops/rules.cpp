// SPDX-License-Identifier: Apache-2.0
#include "core/ops/rules.h"

#include "core/base/error.h"

namespace weft::ops {

std::optional<ir::DType> promote(ir::DType a, ir::DType b) {
    if (!ir::is_float(a) || !ir::is_float(b)) {
        return std::nullopt;
    }
    if (a == b) {
        return a;
    }
    if (a == ir::DType::f64 || b == ir::DType::f64) {
        return std::nullopt;
    }
    return ir::DType::f32;
}

ir::DType statistics_dtype(ir::DType x) {
    return x == ir::DType::f64 ? ir::DType::f64 : ir::DType::f32;
}

std::optional<ir::Shape> broadcast_shapes(const ir::Shape& a, const ir::Shape& b) {
    const ir::Shape& longer = a.rank() >= b.rank() ? a : b;
    const ir::Shape& shorter = a.rank() >= b.rank() ? b : a;
    ir::Shape out = longer;
    const int offset = longer.rank() - shorter.rank();
    for (int dim = 0; dim < shorter.rank(); ++dim) {
        const std::int64_t theirs = shorter[dim];
        std::int64_t& ours = out[dim + offset];
        if (ours == 1) {
            ours = theirs;
        } else if (theirs != 1 && theirs != ours) {
            return std::nullopt;
        }
    }
    return out;
}

std::optional<ir::Shape> shape_of_list(const std::vector<std::int64_t>& extents) {
    if (extents.size() > static_cast<std::size_t>(ir::Shape::kMaxRank) ||
        std::any_of(extents.begin(), extents.end(), [](std::int64_t e) { return e < 0; })) {
        return std::nullopt;
    }
    return ir::Shape(std::span(extents));
}

std::vector<std::int64_t> list_of_shape(const ir::Shape& shape) {
    return {shape.begin(), shape.end()};
}

ir::Shape leading(const ir::Shape& shape, int count) {
    return ir::Shape(shape.span().first(static_cast<std::size_t>(shape.rank() - count)));
}

ir::Shape with_last(ir::Shape leading_extents, std::int64_t last) {
    leading_extents.push_back(last);
    return leading_extents;
}

std::string want_float(std::string_view name, const ir::Type& type) {
    return ir::is_float(type.dtype) ? std::string()
                                    : word(name) + " must be floating point, but is " + word(type);
}

std::string want_integer(std::string_view name, const ir::Type& type) {
    return type.dtype == ir::DType::i32 ? std::string()
                                        : word(name) + " must be i32, but is " + word(type);
}

std::string want_rank(std::string_view name, const ir::Type& type, int rank) {
    return type.shape.rank() == rank
               ? std::string()
               : word(name) + " needs " + word(rank) + " dimensions, but is " + word(type);
}

std::string want_shape(std::string_view name, const ir::Type& type, const ir::Shape& shape) {
    return type.shape == shape
               ? std::string()
               : word(name) + " must have the shape " + word(shape) + ", but is " + word(type);
}

std::string want_random(const ir::Type& type) {
    return type == ir::Type{ir::DType::i64, {3}}
               ? std::string()
               : "random must be i64[3] (seed, step, first sample), but is " + word(type);
}

std::string want_position(const ir::Type& type) {
    return type == ir::Type{ir::DType::i64, {}} ? std::string()
                                                : "position must be i64[], but is " + word(type);
}

std::string want_operands(const OpView& view, bool eight_bits) {
    const std::string text = view.attributes().text("operands", "");
    const bool scaled = text == "e4m3 e4m3" || text == "e4m3 e5m2" || text == "e5m2 e4m3";
    return text.empty() || text == "tf32" || (scaled && eight_bits) ? std::string()
           : eight_bits ? "operands must be tf32, or e4m3 or e5m2 for each and not e5m2 for both, "
                          "but are '" +
                              text + "'"
                        : "operands must be tf32, but are '" + text + "'";
}

std::string first_of(std::initializer_list<std::string> texts) {
    for (const std::string& text : texts) {
        if (!text.empty()) {
            return text;
        }
    }
    return {};
}

// An input that is named twice is read once.
double operand_bytes(const OpView& view) {
    double bytes = 0;
    const ir::ValueIds& inputs = view.op.inputs;
    for (auto id = inputs.begin(); id != inputs.end(); ++id) {
        if (std::find(inputs.begin(), id, *id) == id) {
            bytes += static_cast<double>(view.program.type(*id).bytes());
        }
    }
    for (int i = 0; i < view.outputs(); ++i) {
        bytes += static_cast<double>(view.output(i).bytes());
    }
    return bytes;
}

OpCost cost(const OpView& view, double flops) {
    return {flops, operand_bytes(view), 0};
}

OpCost product_cost(const OpView& view, double flops) {
    return {flops, operand_bytes(view), flops};
}

void zero_gradient(GradientContext&) {}

void only_first_output(const GradientContext& context) {
    for (int i = 1; i < static_cast<int>(context.op().outputs.size()); ++i) {
        if (context.upstream(i).valid()) {
            throw Error(ErrorKind::usage, context.op().path,
                        context.op().kind + ": output " + word(i) + " has no gradient",
                        "let only its first output reach the loss");
        }
    }
}

ir::ValueId sum_to_shape(Builder& b, ir::ValueId gradient, ir::Shape shape) {
    const ir::Shape from = b.shape(gradient);
    if (from == shape) {
        return gradient;
    }
    const int offset = from.rank() - shape.rank();
    std::vector<std::int64_t> dims;
    for (int dim = 0; dim < from.rank(); ++dim) {
        if (dim < offset || (shape[dim - offset] == 1 && from[dim] != 1)) {
            dims.push_back(dim);
        }
    }
    const ir::ValueId sum = dims.empty() ? gradient : reduce_sum(b, gradient, dims);
    return b.shape(sum) == shape ? sum : reshape(b, sum, shape);
}

std::string want_features(const OpView& view,
                          std::initializer_list<std::pair<std::string_view, int>> vectors) {
    const ir::Type& x = view.input(0);
    if (x.shape.rank() == 0) {
        return "x needs a feature dimension, but is " + word(x);
    }
    if (std::string wrong = want_float("x", x); !wrong.empty()) {
        return wrong;
    }
    for (const auto& [name, operand] : vectors) {
        const ir::Type& type = view.input(operand);
        if (type.shape != ir::Shape{x.shape.back()}) {
            return "x has " + word(x.shape.back()) + " features, but " + word(name) + " is " +
                   word(type);
        }
        if (std::string wrong = want_float(name, type); !wrong.empty()) {
            return wrong;
        }
    }
    return {};
}

OpCost norm_cost(const OpView& view) {
    return cost(view, 8.0 * static_cast<double>(view.input(0).shape.elements()));
}

} // namespace weft::ops
