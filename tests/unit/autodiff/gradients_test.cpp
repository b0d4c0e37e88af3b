// SPDX-License-Identifier: Apache-2.0
// Reverse mode over whole programs: chains, fan-out, a network, loops, and what cannot be
// differentiated.
#include "core/autodiff/gradients.h"

#include "core/base/error.h"
#include "core/exec/interpreter.h"
#include "core/ir/text.h"
#include "core/ops/verify.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>
#include <functional>

using namespace weft;
using exec::Tensor;
using ir::ValueId;
using ir::ValueIds;

namespace {

constexpr ir::DType kF64 = ir::DType::f64;

Tensor filled(ir::Type type, double phase) {
    Tensor out(type);
    std::span<double> values = out.span<double>();
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = std::sin(phase + 1.3 * static_cast<double>(i));
    }
    return out;
}

// Builds a scalar loss out of the variables; the gradients of all variables follow it in the
// results.
using Loss = std::function<ValueId(ops::Builder&, const ValueIds&)>;

ir::Program differentiated(const std::vector<ir::Type>& types, const Loss& loss) {
    ir::Program program;
    program.name = "differentiated";
    ValueIds variables;
    for (const ir::Type& type : types) {
        const std::string name = "x" + std::to_string(variables.size());
        variables.push_back(program.add_argument(ir::Role::state, name, type));
    }
    ops::Builder b(program, program.body);
    const ValueId out = loss(b, variables);
    const ValueId seed = constant(b, 1.0, {}, b.type(out).dtype);
    const ValueIds gradients = autodiff::append_gradients(b, out, seed, variables);
    program.add_result(ir::Role::output, "loss", out);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        program.add_result(ir::Role::output, "g" + std::to_string(i), gradients[i]);
    }
    return program;
}

std::vector<Tensor> variables_of(const std::vector<ir::Type>& types) {
    std::vector<Tensor> out;
    for (const ir::Type& type : types) {
        out.push_back(filled(type, 0.4 + static_cast<double>(out.size())));
    }
    return out;
}

double largest_difference(const Tensor& a, const Tensor& b) {
    if (a.type != b.type) {
        return std::numeric_limits<double>::infinity();
    }
    double largest = 0;
    for (std::size_t i = 0; i < a.span<double>().size(); ++i) {
        largest = std::max(largest, std::abs(a.span<double>()[i] - b.span<double>()[i]));
    }
    return largest;
}

// Largest deviation of any gradient from central differences with h = 1e-5, whose own error is of
// the order h^2 + 1e-16 / h, about 1e-10 for these functions.
double deviation(const std::vector<ir::Type>& types, const Loss& loss) {
    const ir::Program program = differentiated(types, loss);
    const std::vector<Tensor> at = variables_of(types);
    const std::vector<Tensor> results = exec::interpret(program, at);
    double largest = 0;
    for (std::size_t v = 0; v < types.size(); ++v) {
        for (std::size_t i = 0; i < at[v].span<double>().size(); ++i) {
            constexpr double kStep = 1e-5;
            std::vector<Tensor> moved = at;
            moved[v].span<double>()[i] += kStep;
            const double above = exec::interpret(program, moved)[0].span<double>()[0];
            moved[v].span<double>()[i] -= 2 * kStep;
            const double below = exec::interpret(program, moved)[0].span<double>()[0];
            largest = std::max(largest, std::abs(results[v + 1].span<double>()[i] -
                                                 (above - below) / (2 * kStep)));
        }
    }
    return largest;
}

constexpr double kDeviation = 1e-8;

ValueId sum_all(ops::Builder& b, ValueId x) {
    std::vector<std::int64_t> dims;
    for (int dim = 0; dim < b.shape(x).rank(); ++dim) {
        dims.push_back(dim);
    }
    return reduce_sum(b, x, dims);
}

// One loop: the body maps (carried and slices) to (new carried and per-iteration outputs).
using Body = std::function<ValueIds(ops::Builder&, const ValueIds&)>;

ValueIds loop(ops::Builder& b, std::int64_t count, ValueIds carried, const ValueIds& sliced,
              bool reverse, const Body& build) {
    ir::Program& program = b.program();
    ir::Op op;
    op.kind = "repeat";
    op.path = b.path();
    op.attributes = {{"count", count}, {"carried", std::ssize(carried)}, {"reverse", reverse}};
    ir::Block& body = op.body.emplace_back();
    for (const ValueId value : carried) {
        body.arguments.push_back(program.add_value(program.type(value)));
    }
    for (const ValueId value : sliced) {
        const ir::Type type = program.type(value);
        body.arguments.push_back(
            program.add_value({type.dtype, ir::Shape(type.shape.span().subspan(1))}));
    }
    ops::Builder inner(program, body);
    body.results = build(inner, body.arguments);
    for (std::size_t i = 0; i < body.results.size(); ++i) {
        ir::Type type = program.type(body.results[i]);
        if (i >= carried.size()) {
            ir::Type stacked{type.dtype, {count}};
            for (const std::int64_t extent : type.shape) {
                stacked.shape.push_back(extent);
            }
            type = stacked;
        }
        op.outputs.push_back(program.add_value(type));
    }
    op.inputs = std::move(carried);
    op.inputs.insert(op.inputs.end(), sliced.begin(), sliced.end());
    const ValueIds outputs = op.outputs;
    b.append(std::move(op));
    return outputs;
}

// The same without a loop op: slices are cut, outputs are stacked by hand.
ValueIds unrolled(ops::Builder& b, std::int64_t count, ValueIds carried, const ValueIds& sliced,
                  bool reverse, const Body& build) {
    const std::size_t carries = carried.size();
    std::vector<ValueIds> stacks;
    for (std::int64_t step = 0; step < count; ++step) {
        const std::int64_t at = reverse ? count - 1 - step : step;
        ValueIds arguments = carried;
        for (const ValueId whole : sliced) {
            const ir::Shape shape = b.shape(whole);
            std::vector<std::int64_t> starts(static_cast<std::size_t>(shape.rank()), 0);
            std::vector<std::int64_t> sizes(shape.begin(), shape.end());
            starts[0] = at;
            sizes[0] = 1;
            arguments.push_back(
                reshape(b, slice(b, whole, starts, sizes), ir::Shape(shape.span().subspan(1))));
        }
        const ValueIds results = build(b, arguments);
        carried.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(carries));
        stacks.resize(results.size() - carries);
        for (std::size_t i = carries; i < results.size(); ++i) {
            std::vector<std::int64_t> row{1};
            const ir::Shape shape = b.shape(results[i]);
            row.insert(row.end(), shape.begin(), shape.end());
            const ValueId piece = reshape(b, results[i], ir::Shape(std::span(row)));
            auto& stack = stacks[i - carries];
            stack.insert(reverse ? stack.begin() : stack.end(), piece);
        }
    }
    ValueIds out = carried;
    for (const ValueIds& stack : stacks) {
        out.push_back(b.emit_all("concat", stack, {{"dim", 0}})[0]);
    }
    return out;
}

using Repeat = decltype(&loop);

// A recurrent layer: h <- tanh(h W + x_t), handing out h * h; W is captured.
ValueId recurrent_loss(ops::Builder& b, const ValueIds& v, Repeat repeat, bool reverse) {
    const ValueId weight = v[2];
    const Body body = [&](ops::Builder& inner, const ValueIds& a) {
        const ValueId product = matmul(inner, a[0], weight);
        const ValueId h = inner.emit_all("tanh", {add(inner, product, a[1])})[0];
        return ValueIds{h, mul(inner, h, a[0])};
    };
    const ValueIds out = repeat(b, 3, {v[0]}, {v[1]}, reverse, body);
    return add(b, sum_all(b, out[0]), sum_all(b, mul(b, out[1], out[1])));
}

// An outer loop over rows with an inner loop inside; both capture the same variable.
ValueId nested_loss(ops::Builder& b, const ValueIds& v, Repeat repeat) {
    const ValueId gain = v[2];
    const Body inner_body = [&](ops::Builder& inner, const ValueIds& a) {
        const ValueId bent =
            inner.emit_all("sigmoid", {mul(inner, add(inner, a[0], a[1]), gain)})[0];
        return ValueIds{bent, inner.emit_all("square", {bent})[0]};
    };
    const Body outer_body = [&](ops::Builder& outer, const ValueIds& a) {
        const ValueIds r = repeat(outer, 2, {a[0]}, {a[1]}, true, inner_body);
        const ValueId mixed = mul(outer, add(outer, r[0], sum_all(outer, r[1])), gain);
        return ValueIds{mixed};
    };
    return sum_all(b, repeat(b, 3, {v[0]}, {v[1]}, false, outer_body)[0]);
}

const std::vector<ir::Type> kRecurrent = {{kF64, {2, 3}}, {kF64, {3, 2, 3}}, {kF64, {3, 3}}};
const std::vector<ir::Type> kNested = {{kF64, {2}}, {kF64, {3, 2, 2}}, {kF64, {2}}};

void compare_with_unrolled(
    const std::vector<ir::Type>& types,
    const std::function<ValueId(ops::Builder&, const ValueIds&, Repeat)>& loss) {
    const auto with = [&](Repeat repeat) {
        return differentiated(
            types, [&](ops::Builder& b, const ValueIds& v) { return loss(b, v, repeat); });
    };
    const ir::Program rolled = with(&loop);
    const ir::Program flat = with(&unrolled);
    const std::vector<std::string> violations = ops::verify(rolled);
    QVERIFY2(violations.empty(), violations.empty() ? "" : violations[0].c_str());
    const std::vector<Tensor> at = variables_of(types);
    const std::vector<Tensor> a = exec::interpret(rolled, at);
    const std::vector<Tensor> b = exec::interpret(flat, at);
    for (std::size_t i = 0; i < a.size(); ++i) {
        // The same sums in another order: a few units in the last place.
        QVERIFY2(largest_difference(a[i], b[i]) < 1e-13, std::to_string(i).c_str());
    }
}

} // namespace

class GradientsTest : public QObject {
    Q_OBJECT
private slots:
    void a_chain_multiplies_its_slopes() {
        // d/dx exp(sin-like chain): loss = exp(-x * x), slope -2 x exp(-x * x).
        const ir::Program program =
            differentiated({{kF64, {}}}, [](ops::Builder& b, const ValueIds& v) {
                return b.emit_all("exp", {affine(b, mul(b, v[0], v[0]), -1.0)})[0];
            });
        Tensor x({kF64, {}});
        x.span<double>()[0] = 0.7;
        const auto results = exec::interpret(program, std::vector<Tensor>{x});
        const double expected = -2 * 0.7 * std::exp(-0.49);
        QVERIFY(std::abs(results[1].span<double>()[0] - expected) < 1e-15);
    }

    void fan_out_sums_the_gradients() {
        const double off = deviation({{kF64, {3}}}, [](ops::Builder& b, const ValueIds& v) {
            const ValueId t = b.emit_all("tanh", {v[0]})[0];
            return sum_all(b, add(b, mul(b, t, t), mul(b, add(b, t, v[0]), v[0])));
        });
        QVERIFY2(off < kDeviation, std::to_string(off).c_str());
    }

    void a_value_used_twice_by_one_op_counts_twice() {
        const ir::Program program = differentiated(
            {{kF64, {}}}, [](ops::Builder& b, const ValueIds& v) { return mul(b, v[0], v[0]); });
        Tensor x({kF64, {}});
        x.span<double>()[0] = 3.0;
        QCOMPARE(exec::interpret(program, std::vector<Tensor>{x})[1].span<double>()[0], 6.0);
    }

    void a_variable_without_influence_has_gradient_zero() {
        const ir::Program program =
            differentiated({{kF64, {2}}, {kF64, {3}}},
                           [](ops::Builder& b, const ValueIds& v) { return sum_all(b, v[0]); });
        const auto results = exec::interpret(program, variables_of({{kF64, {2}}, {kF64, {3}}}));
        QVERIFY(results[2].type == (ir::Type{kF64, {3}}));
        for (const double g : results[2].span<double>()) {
            QCOMPARE(g, 0.0);
        }
    }

    void a_perceptron_with_cross_entropy_matches_differences() {
        const std::vector<ir::Type> types = {
            {kF64, {4, 5}}, {kF64, {5, 6}}, {kF64, {6}}, {kF64, {6, 3}}, {kF64, {3}}};
        const double off = deviation(types, [](ops::Builder& b, const ValueIds& v) {
            const ValueId hidden = b.emit_all("gelu", {linear(b, v[0], v[1], v[2])})[0];
            const ValueId logits = linear(b, hidden, v[3], v[4]);
            const ValueId first = slice(b, v[0], {0, 0}, {4, 1}); // labels out of the data: 0 or 1
            const ValueId sign = b.emit_all("less", {first, constant(b, 0.1, {}, kF64)})[0];
            const ValueId labels = reshape(b, cast(b, sign, ir::DType::i32), {4});
            const ValueId loss = b.emit_all("cross_entropy", {logits, labels})[0];
            return reduce_mean(b, loss, {0});
        });
        QVERIFY2(off < kDeviation, std::to_string(off).c_str());
    }

    void gradients_have_the_element_type_of_their_values() {
        const std::vector<ir::Type> types = {{ir::DType::bf16, {2, 3}}, {ir::DType::f32, {3, 2}}};
        const ir::Program program = differentiated(types, [](ops::Builder& b, const ValueIds& v) {
            return sum_all(b, matmul(b, v[0], v[1]));
        });
        QVERIFY(ops::verify(program).empty());
        QCOMPARE(program.type(program.results[1].value).dtype, ir::DType::bf16);
        QCOMPARE(program.type(program.results[2].value).dtype, ir::DType::f32);
    }

    void backward_ops_carry_phase_and_path_of_their_forward_op() {
        ir::Program program;
        const ValueId x = program.add_argument(ir::Role::state, "x", {kF64, {2}});
        ops::Builder b(program, program.body);
        b.set_path("first");
        const ValueId t = b.emit_all("tanh", {x})[0];
        b.set_path("second");
        const ValueId loss = sum_all(b, t);
        const ValueId seed = constant(b, 1.0, {}, kF64);
        autodiff::append_gradients(b, loss, seed, ValueIds{x});
        const ir::Op& last = program.body.ops.back();
        QCOMPARE(QString::fromStdString(last.kind), QStringLiteral("tanh_grad"));
        QCOMPARE(QString::fromStdString(last.path), QStringLiteral("first"));
        QVERIFY(last.phase == ir::Phase::backward);
        QCOMPARE(QString::fromStdString(b.path()), QStringLiteral("second"));
        QVERIFY(b.phase() == ir::Phase::forward);
    }

    void a_non_differentiable_op_on_the_way_is_named() {
        QString said;
        try {
            differentiated({{kF64, {2, 3}}}, [](ops::Builder& b, const ValueIds& v) {
                b.set_path("head");
                const ValueId y = b.emit_all("softmax", {v[0]})[0];
                const ValueId dx = b.emit_all("softmax_grad", {y, y})[0];
                return sum_all(b, dx);
            });
        } catch (const Error& error) {
            said = QString::fromStdString(error.where() + ": " + error.text());
        }
        QCOMPARE(said, QStringLiteral("head: softmax_grad is not differentiable"));
    }

    void a_statistic_on_the_way_is_named() {
        const std::vector<ir::Type> types = {{kF64, {2, 3}}, {kF64, {3}}, {kF64, {3}}};
        QString said;
        try {
            differentiated(types, [](ops::Builder& b, const ValueIds& v) {
                return sum_all(b, b.emit_all("layer_norm", {v[0], v[1], v[2]}, {{"eps", 1e-5}})[1]);
            });
        } catch (const Error& error) {
            said = QString::fromStdString(error.text());
        }
        QCOMPARE(said, QStringLiteral("layer_norm: output 1 has no gradient"));
    }

    void an_op_off_the_way_needs_no_gradient() {
        const double off = deviation({{kF64, {2, 3}}}, [](ops::Builder& b, const ValueIds& v) {
            b.emit_all("argmax", {v[0]});
            return sum_all(b, mul(b, v[0], v[0]));
        });
        QVERIFY(off < kDeviation);
    }

    void the_same_program_comes_out_every_time() {
        const auto text = [] {
            return ir::print(differentiated(kRecurrent, [](ops::Builder& b, const ValueIds& v) {
                return recurrent_loss(b, v, &loop, false);
            }));
        };
        QCOMPARE(QString::fromStdString(text()), QString::fromStdString(text()));
    }
};

class LoopGradientsTest : public QObject {
    Q_OBJECT
private slots:
    void a_loop_matches_its_unrolled_form() {
        compare_with_unrolled(kRecurrent, [](ops::Builder& b, const ValueIds& v, Repeat repeat) {
            return recurrent_loss(b, v, repeat, false);
        });
    }

    void a_reverse_loop_matches_its_unrolled_form() {
        compare_with_unrolled(kRecurrent, [](ops::Builder& b, const ValueIds& v, Repeat repeat) {
            return recurrent_loss(b, v, repeat, true);
        });
    }

    void a_nested_loop_matches_its_unrolled_form() { compare_with_unrolled(kNested, nested_loss); }

    void a_loop_matches_differences() {
        const double off = deviation(kRecurrent, [](ops::Builder& b, const ValueIds& v) {
            return recurrent_loss(b, v, &loop, false);
        });
        QVERIFY2(off < kDeviation, std::to_string(off).c_str());
    }

    void a_carried_value_that_passes_through_keeps_its_gradient() {
        compare_with_unrolled(
            {{kF64, {2}}, {kF64, {2}}, {kF64, {4, 2}}},
            [](ops::Builder& b, const ValueIds& v, Repeat repeat) {
                const auto out = repeat(
                    b, 4, {v[0], v[1]}, {v[2]}, false, [](ops::Builder& inner, const ValueIds& a) {
                        return ValueIds{a[0], add(inner, mul(inner, a[1], a[0]), a[2])};
                    });
                return sum_all(b, add(b, out[0], out[1]));
            });
    }

    void microsteps_accumulate_the_gradient_of_the_whole_batch() {
        // A loop over microbatches whose body differentiates itself, as a train step does.
        const ir::Type weight_type{kF64, {3, 2}};
        const ir::Type data_type{kF64, {4, 5, 3}};
        ir::Program program;
        const ValueId weight = program.add_argument(ir::Role::state, "w", weight_type);
        const ValueId data = program.add_argument(ir::Role::batch, "x", data_type);
        ops::Builder b(program, program.body);
        const auto loss_of = [&](ops::Builder& builder, ValueId x) {
            return sum_all(builder, builder.emit_all("square", {matmul(builder, x, weight)})[0]);
        };
        const ValueId zero = constant(b, 0.0, weight_type.shape, kF64);
        const auto sum =
            loop(b, 4, {zero}, {data}, false, [&](ops::Builder& inner, const ValueIds& a) {
                const ValueId loss = loss_of(inner, a[1]);
                const ValueId seed = constant(inner, 1.0, {}, kF64);
                const auto g = autodiff::append_gradients(inner, loss, seed, ValueIds{weight});
                return ValueIds{add(inner, a[0], g[0])};
            });
        const ValueId whole = loss_of(b, reshape(b, data, {20, 3}));
        const ValueId seed = constant(b, 1.0, {}, kF64);
        const auto direct = autodiff::append_gradients(b, whole, seed, ValueIds{weight});
        program.add_result(ir::Role::output, "accumulated", sum[0]);
        program.add_result(ir::Role::output, "direct", direct[0]);
        QVERIFY(ops::verify(program).empty());
        const auto results = exec::interpret(program, variables_of({weight_type, data_type}));
        QVERIFY(largest_difference(results[0], results[1]) < 1e-12); // another order of 20 terms
    }

    void residuals_are_only_what_the_backward_body_reads() {
        // d(h + x) needs no values of the body: nothing is stacked.
        const ir::Program program =
            differentiated({{kF64, {2}}, {kF64, {3, 2}}}, [](ops::Builder& b, const ValueIds& v) {
                const auto out =
                    loop(b, 3, {v[0]}, {v[1]}, false, [](ops::Builder& inner, const ValueIds& a) {
                        return ValueIds{add(inner, a[0], a[1])};
                    });
                return sum_all(b, out[0]);
            });
        QCOMPARE(static_cast<int>(program.body.ops[0].outputs.size()), 1);
        QVERIFY(ops::verify(program).empty());
    }
};

WEFT_TEST(GradientsTest)
WEFT_TEST(LoopGradientsTest)
#include "gradients_test.moc"
