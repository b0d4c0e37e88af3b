// SPDX-License-Identifier: Apache-2.0
#include "tests/ops/op_case.h"

#include "core/base/philox.h"
#include "core/base/text.h"
#include "core/ops/op_def.h"

#include <cmath>
#include <limits>

namespace weft::test {

using exec::Tensor;
using ir::ValueId;
using ir::ValueIds;

ir::Type parse_type(const std::string& operand) {
    const std::size_t open = operand.find('[');
    const std::size_t close = operand.find(']');
    ir::Type type;
    type.dtype = ir::parse_dtype(operand.substr(0, open)).value();
    const std::string extents = operand.substr(open + 1, close - open - 1);
    if (!extents.empty()) {
        for (const std::string& extent : split(extents, ',')) {
            type.shape.push_back(std::stoll(extent));
        }
    }
    return type;
}

std::vector<ir::Type> types_of(const std::vector<std::string>& operands) {
    std::vector<ir::Type> out;
    for (const std::string& operand : operands) {
        out.push_back(parse_type(operand));
    }
    return out;
}

void set_number(Tensor& tensor, std::size_t at, double value) {
    switch (tensor.type.dtype) {
    case ir::DType::f64: tensor.span<double>()[at] = value; break;
    case ir::DType::f32: tensor.span<float>()[at] = static_cast<float>(value); break;
    case ir::DType::i32: tensor.span<std::int32_t>()[at] = static_cast<std::int32_t>(value); break;
    case ir::DType::i64: tensor.span<std::int64_t>()[at] = static_cast<std::int64_t>(value); break;
    case ir::DType::u8: tensor.span<std::uint8_t>()[at] = static_cast<std::uint8_t>(value); break;
    default: WEFT_CHECK(false, "rows use f64, f32, i32, i64 and u8");
    }
}

std::vector<double> numbers(const Tensor& tensor) {
    std::vector<double> out;
    const auto append = [&](auto values) { out.assign(values.begin(), values.end()); };
    switch (tensor.type.dtype) {
    case ir::DType::f64: append(tensor.span<double>()); break;
    case ir::DType::f32: append(tensor.span<float>()); break;
    case ir::DType::i32: append(tensor.span<std::int32_t>()); break;
    case ir::DType::i64: append(tensor.span<std::int64_t>()); break;
    case ir::DType::u8: append(tensor.span<std::uint8_t>()); break;
    default: WEFT_CHECK(false, "rows use f64, f32, i32, i64 and u8");
    }
    return out;
}

Tensor make_operand(const std::string& operand, int index) {
    Tensor out(parse_type(operand));
    const std::string suffix = operand.substr(operand.find(']') + 1);
    const RandomStream stream(static_cast<std::uint64_t>(index), "operand");
    const auto count = static_cast<std::size_t>(out.type.shape.elements());
    for (std::size_t i = 0; i < count; ++i) {
        const double uniform = stream.uniform(0, i);
        double value = uniform < 0.5 ? -1.5 + 2.6 * uniform : -1.1 + 2.6 * uniform; // |value| > 0.2
        if (suffix == "+") {
            value = 0.5 + 1.5 * uniform;
        } else if (suffix == "?") {
            value = i % 3 == 1 ? 0.0 : 1.0;
        } else if (suffix.starts_with("<")) {
            value = std::floor(uniform * std::stod(suffix.substr(1)));
        } else if (suffix.starts_with("%")) {
            const auto last = static_cast<std::size_t>(out.type.shape[out.type.shape.rank() - 1]);
            value = static_cast<double>(i % last % std::stoul(suffix.substr(1)));
        } else if (suffix.starts_with("=")) {
            value = std::stod(suffix.substr(1));
        } else if (out.type == ir::Type{ir::DType::i64, {3}}) {
            value = i == 0 ? 7.0 : i == 1 ? 3.0 : 0.0; // seed, step, first sample
        }
        set_number(out, i, value);
    }
    return out;
}

std::vector<Tensor> make_operands(const OpCase& row) {
    std::vector<Tensor> out;
    for (const std::string& operand : row.operands) {
        out.push_back(make_operand(operand, static_cast<int>(out.size())));
    }
    for (const Derived& derived : row.derived) {
        OpCase forward{.kind = derived.kind};
        for (const ops::AttributeDef& known : ops::op_def(derived.kind).attributes) {
            if (const ir::Attribute* value = row.attributes.find(known.name)) {
                forward.attributes.set(known.name, *value);
            }
        }
        if (derived.kind == "layer_norm" || derived.kind == "rms_norm") {
            forward.attributes.set("eps", 0.1); // their gradients have no such attribute
        }
        std::vector<Tensor> inputs;
        for (const int input : derived.inputs) {
            inputs.push_back(out[static_cast<std::size_t>(input)]);
        }
        out[static_cast<std::size_t>(derived.operand)] =
            run_case(forward, inputs, forward.attributes)[static_cast<std::size_t>(derived.output)];
    }
    return out;
}

std::vector<OpCase> computing_op_cases() {
    std::vector<OpCase> out = op_cases();
    std::erase_if(out, [](const OpCase& row) { return ops::op_def(row.kind).collective; });
    return out;
}

ir::Program one_op_program(const OpCase& row, const std::vector<ir::Type>& types,
                           const ir::Attributes& attributes) {
    ir::Program program;
    program.name = "one_op";
    ValueIds arguments;
    for (const ir::Type& type : types) {
        const std::string name = "x" + std::to_string(arguments.size());
        arguments.push_back(program.add_argument(ir::Role::batch, name, type));
    }
    ops::Builder b(program, program.body);
    b.set_path("layer");
    const ValueIds outputs =
        row.build ? row.build(b, arguments) : b.emit_all(row.kind, arguments, attributes);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        program.add_result(ir::Role::output, "y" + std::to_string(i), outputs[i]);
    }
    return program;
}

std::vector<Tensor> run_case(const OpCase& row, const std::vector<Tensor>& operands,
                             const ir::Attributes& attributes) {
    std::vector<ir::Type> types;
    for (const Tensor& operand : operands) {
        types.push_back(operand.type);
    }
    return exec::interpret(one_op_program(row, types, attributes), operands);
}

double largest_difference(const Tensor& a, const Tensor& b) {
    if (a.type != b.type) {
        return std::numeric_limits<double>::infinity();
    }
    const std::vector<double> x = numbers(a);
    const std::vector<double> y = numbers(b);
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (x[i] == y[i]) {
            continue;
        }
        const double difference =
            std::abs(x[i] - y[i]) / std::max({1.0, std::abs(x[i]), std::abs(y[i])});
        largest = std::isnan(difference) ? std::numeric_limits<double>::infinity()
                                         : std::max(largest, difference);
    }
    return largest;
}

std::string describe(const OpCase& row) {
    return row.kind + "(" + join(row.operands, ", ") + ")";
}

} // namespace weft::test
