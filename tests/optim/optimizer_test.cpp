// SPDX-License-Identifier: Apache-2.0
// Ten steps of every optimizer against the published update rules, evaluated here in double with plain
// loops.
#include "core/exec/interpreter.h"
#include "core/optim/groups.h"
#include "core/optim/schedule.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <set>

using namespace weft;
using config::Json;

namespace {

/// State of one number under an update rule written out by hand.
struct Scalar {
    double theta = 1.0, m = 0, v = 0, u = 0;
};
using Rule = std::function<void(Scalar&, double gradient, double rate, int t)>;

struct OptimizerCase {
    std::string section;
    Rule rule;
};

Rule sgd_rule(double momentum, bool nesterov, double decay) {
    return [=](Scalar& s, double g, double rate, int) {
        g += decay * s.theta;
        s.m = momentum * s.m + g;
        s.theta -= rate * (momentum == 0 ? g : nesterov ? g + momentum * s.m : s.m);
    };
}

Rule adam_rule(double b1, double b2, double eps, double coupled, double decoupled) {
    return [=](Scalar& s, double g, double rate, int t) {
        g += coupled * s.theta;
        s.theta *= 1 - rate * decoupled;
        s.m = b1 * s.m + (1 - b1) * g;
        s.v = b2 * s.v + (1 - b2) * g * g;
        s.theta -= rate * (s.m / (1 - std::pow(b1, t))) /
                   (std::sqrt(s.v / (1 - std::pow(b2, t))) + eps);
    };
}

Rule nadam_rule(double b1, double b2, double decay) {
    return [=](Scalar& s, double g, double rate, int t) {
        s.m = b1 * s.m + (1 - b1) * g;
        s.v = b2 * s.v + (1 - b2) * g * g;
        const double ahead =
            b1 * s.m / (1 - std::pow(b1, t + 1)) + (1 - b1) * g / (1 - std::pow(b1, t));
        const double step = ahead / (std::sqrt(s.v / (1 - std::pow(b2, t))) + 1e-8);
        s.theta -= rate * (step + decay * s.theta);
    };
}

/// Algorithm 2 of the paper: its rho, which is compared with 4 there and with 5 by its program.
Rule radam_rule(double b1, double b2, double decay) {
    return [=](Scalar& s, double g, double rate, int t) {
        s.m = b1 * s.m + (1 - b1) * g;
        s.v = b2 * s.v + (1 - b2) * g * g;
        const double most = 2 / (1 - b2) - 1;
        const double rho = most - 2 * t * std::pow(b2, t) / (1 - std::pow(b2, t));
        double step = s.m / (1 - std::pow(b1, t));
        if (rho > 5) {
            const double l = std::sqrt(1 - std::pow(b2, t)) / (std::sqrt(s.v) + 1e-8);
            step *= l * std::sqrt((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho));
        }
        s.theta -= rate * (step + decay * s.theta);
    };
}

/// Of a parameter of one number, whose length is its size.
Rule lamb_rule(double decay) {
    return [=](Scalar& s, double g, double rate, int t) {
        s.m = 0.9 * s.m + 0.1 * g;
        s.v = 0.999 * s.v + 0.001 * g * g;
        const double u = s.m / (1 - std::pow(0.9, t)) /
                             (std::sqrt(s.v / (1 - std::pow(0.999, t))) + 1e-6) +
                         decay * s.theta;
        s.theta -= rate * std::abs(s.theta) / std::abs(u) * u;
    };
}

Rule lion_rule(double b1, double b2, double decay) {
    return [=](Scalar& s, double g, double rate, int) {
        const double c = b1 * s.m + (1 - b1) * g;
        s.theta -= rate * ((c > 0 ? 1 : c < 0 ? -1 : 0) + decay * s.theta);
        s.m = b2 * s.m + (1 - b2) * g;
    };
}

Rule rmsprop_rule(double decay, double momentum, bool centered, double pull) {
    return [=](Scalar& s, double g, double rate, int) {
        g += pull * s.theta;
        s.v = decay * s.v + (1 - decay) * g * g;
        s.u = decay * s.u + (1 - decay) * g;
        const double square = centered ? s.v - s.u * s.u : s.v;
        s.m = momentum * s.m + g / (std::sqrt(square) + 1e-8);
        s.theta -= rate * s.m;
    };
}

Rule adagrad_rule(double rate_decay, double pull) {
    return [=](Scalar& s, double g, double rate, int t) {
        g += pull * s.theta;
        s.v += g * g;
        s.theta -= rate / (1 + (t - 1) * rate_decay) * g / (std::sqrt(s.v) + 1e-10);
    };
}

Rule adam_atan2_rule(double b1, double b2, double decay) {
    return [=](Scalar& s, double g, double rate, int t) {
        s.theta *= 1 - rate * decay;
        s.m = b1 * s.m + (1 - b1) * g;
        s.v = b2 * s.v + (1 - b2) * g * g;
        s.theta -= rate / (1 - std::pow(b1, t)) *
                   std::atan2(s.m, std::sqrt(s.v) / std::sqrt(1 - std::pow(b2, t)));
    };
}

Rule sign_rule(double decay) {
    return [=](Scalar& s, double g, double rate, int) {
        s.theta = s.theta * (1 - rate * decay) - rate * (g > 0 ? 1 : g < 0 ? -1 : 0);
    };
}

/// The authors' program, which keeps y and z: theta is y, and z begins as it does, at 1.
Rule schedule_free_rule(double b1, double b2, double decay) {
    return [=](Scalar& s, double g, double rate, int t) {
        const double z = 1 + s.u;
        s.m += rate * rate; // the rate is always the same
        const double c = rate * rate / s.m;
        s.v = b2 * s.v + (1 - b2) * g * g;
        const double u = g / (std::sqrt(s.v / (1 - std::pow(b2, t))) + 1e-8) + decay * s.theta;
        s.theta += c * (z - s.theta) + rate * (b1 * (1 - c) - 1) * u;
        s.u -= rate * u;
    };
}

std::vector<OptimizerCase> optimizer_cases() {
    return {
        {R"({"type": "schedule_free"})", schedule_free_rule(0.9, 0.999, 0)},
        {R"({"type": "schedule_free", "betas": [0.8, 0.95], "weight_decay": 0.1})",
         schedule_free_rule(0.8, 0.95, 0.1)},
        {R"({"type": "nadam"})", nadam_rule(0.9, 0.999, 0)},
        {R"({"type": "nadam", "betas": [0.8, 0.95], "weight_decay": 0.1})",
         nadam_rule(0.8, 0.95, 0.1)},
        // Trusted from the sixth step on, and from the fourth.
        {R"({"type": "radam"})", radam_rule(0.9, 0.999, 0)},
        {R"({"type": "radam", "betas": [0.8, 0.95], "weight_decay": 0.1})",
         radam_rule(0.8, 0.95, 0.1)},
        {R"({"type": "lamb"})", lamb_rule(0.01)},
        {R"({"type": "lamb", "weight_decay": 0})", lamb_rule(0)},
        {R"({"type": "lion"})", lion_rule(0.9, 0.99, 0)},
        {R"({"type": "lion", "betas": [0.95, 0.8], "weight_decay": 0.2})",
         lion_rule(0.95, 0.8, 0.2)},
        {R"({"type": "rmsprop"})", rmsprop_rule(0.99, 0, false, 0)},
        {R"({"type": "rmsprop", "decay": 0.9, "momentum": 0.7, "centered": true,
             "weight_decay": 0.05})",
         rmsprop_rule(0.9, 0.7, true, 0.05)},
        {R"({"type": "adagrad"})", adagrad_rule(0, 0)},
        {R"({"type": "adagrad", "rate_decay": 0.1, "weight_decay": 0.05})",
         adagrad_rule(0.1, 0.05)},
        {R"({"type": "adam_atan2"})", adam_atan2_rule(0.9, 0.95, 0.1)},
        {R"({"type": "adam_atan2", "betas": [0.8, 0.99], "weight_decay": 0})",
         adam_atan2_rule(0.8, 0.99, 0)},
        {R"({"type": "sign_sgd"})", sign_rule(0)},
        {R"({"type": "sign_sgd", "weight_decay": 0.2})", sign_rule(0.2)},
        {R"({"type": "sgd", "momentum": 0})", sgd_rule(0, false, 0)},
        {R"({"type": "sgd"})", sgd_rule(0.9, false, 0)},
        {R"({"type": "sgd", "momentum": 0.8, "nesterov": true, "weight_decay": 0.05})",
         sgd_rule(0.8, true, 0.05)},
        {R"({"type": "adam"})", adam_rule(0.9, 0.999, 1e-8, 0, 0)},
        {R"({"type": "adam", "betas": [0.8, 0.95], "eps": 0.001, "weight_decay": 0.1})",
         adam_rule(0.8, 0.95, 1e-3, 0.1, 0)},
        {R"({"type": "adamw"})", adam_rule(0.9, 0.999, 1e-8, 0, 0.01)},
        {R"({"type": "adamw_8bit"})", adam_rule(0.9, 0.999, 1e-8, 0, 0.01)}, // below full_below
        {R"({"type": "adamw", "betas": [0.9, 0.95], "weight_decay": 0.3})",
         adam_rule(0.9, 0.95, 1e-8, 0, 0.3)},
    };
}

using Matrix = std::vector<std::vector<double>>;

double at(const Matrix& x, std::size_t i) {
    return x[i / x[0].size()][i % x[0].size()];
}

Matrix matrix_of(int rows, int columns, double seed) {
    Matrix out(static_cast<std::size_t>(rows),
               std::vector<double>(static_cast<std::size_t>(columns)));
    double x = seed;
    for (auto& row : out) {
        for (double& value : row) {
            value = static_cast<double>(static_cast<float>(std::sin(x)));
            x += 1.7;
        }
    }
    return out;
}

Matrix product(const Matrix& a, const Matrix& b) {
    Matrix out(a.size(), std::vector<double>(b[0].size(), 0.0));
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t k = 0; k < b.size(); ++k) {
            for (std::size_t j = 0; j < b[0].size(); ++j) {
                out[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    return out;
}

Matrix turned(const Matrix& a) {
    Matrix out(a[0].size(), std::vector<double>(a.size()));
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < a[0].size(); ++j) {
            out[j][i] = a[i][j];
        }
    }
    return out;
}

/// torch.optim.Muon (2.9) with momentum 0.9 and decay 0.2 on a weight [in, out]; theirs is [out,
/// in].
void muon_step(Matrix& theta, Matrix& velocity, const Matrix& gradient, double rate) {
    Matrix x = gradient;
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        for (std::size_t j = 0; j < x[0].size(); ++j) {
            velocity[i][j] = 0.9 * velocity[i][j] + 0.1 * gradient[i][j];
            x[i][j] = 0.9 * velocity[i][j] + 0.1 * gradient[i][j];
            squares += x[i][j] * x[i][j];
        }
    }
    for (auto& row : x) {
        for (double& value : row) {
            value /= std::sqrt(squares) + 1e-7;
        }
    }
    x = turned(x); // as theirs lies
    const bool tall = x.size() > x[0].size();
    x = tall ? turned(x) : x;
    for (int round = 0; round < 5; ++round) {
        const Matrix a = product(x, turned(x));
        const Matrix square = product(a, a);
        Matrix both = a;
        for (std::size_t i = 0; i < a.size(); ++i) {
            for (std::size_t j = 0; j < a.size(); ++j) {
                both[i][j] = -4.775 * a[i][j] + 2.0315 * square[i][j];
            }
        }
        const Matrix more = product(both, x);
        for (std::size_t i = 0; i < x.size(); ++i) {
            for (std::size_t j = 0; j < x[0].size(); ++j) {
                x[i][j] = 3.4445 * x[i][j] + more[i][j];
            }
        }
    }
    x = turned(tall ? turned(x) : x);
    const double out = static_cast<double>(theta[0].size());
    const double factor = std::sqrt(std::max(1.0, out / static_cast<double>(theta.size())));
    for (std::size_t i = 0; i < theta.size(); ++i) {
        for (std::size_t j = 0; j < theta[0].size(); ++j) {
            theta[i][j] = theta[i][j] * (1 - rate * 0.2) - rate * factor * x[i][j];
        }
    }
}

/// The published map by its definition: decades of 2^i (without a sign 2^(i+1)) middles of equal
/// parts from a tenth to all of 10^(i-6), with 0 and 1.
std::vector<double> dynamic_map(bool has_sign) {
    std::vector<double> out = {0.0, 1.0};
    for (int i = 0; i < 7; ++i) {
        const int parts = has_sign ? 1 << i : 2 << i;
        for (int k = 0; k < parts; ++k) {
            const double low = 0.1 + 0.9 * k / parts;
            const double high = 0.1 + 0.9 * (k + 1) / parts;
            out.push_back(std::pow(10.0, i - 6) * (low + high) / 2);
            if (has_sign) {
                out.push_back(-out.back());
            }
        }
    }
    return out;
}

/// Each block of numbers as what is left of it in eight bits.
void round_to_eight_bits(std::vector<double>& numbers, std::size_t block, bool has_sign) {
    const std::vector<double> map = dynamic_map(has_sign);
    for (std::size_t first = 0; first < numbers.size(); first += block) {
        double scale = 0;
        for (std::size_t i = first; i < first + block; ++i) {
            scale = std::max(scale, std::abs(numbers[i]));
        }
        for (std::size_t i = first; i < first + block && scale > 0; ++i) {
            const double share = numbers[i] / scale;
            numbers[i] = scale * *std::min_element(map.begin(), map.end(), [&](double a, double b) {
                             return std::abs(a - share) < std::abs(b - share);
                         });
        }
    }
}

Json checked_section(const std::string& text) {
    const config::FieldTable table = {optim::optimizer_field(optim::schedule_field())};
    const config::Checked checked =
        config::check_fields({{"optimizer", config::json_of(text)}}, table);
    return checked.ok() ? checked.value.at("optimizer") : Json();
}

/// The update of a parameter as a program: theta, state..., average?, gradient, rate, step ->
/// theta, state..., average?
ir::Program update_program(const Json& section, const ir::Shape& shape = {1}, double stays = 0) {
    const optim::Group group = optim::resolve_groups(section).back();
    const auto arrays = optim::arrays_of(*group.optimizer, group.settings, shape);
    ir::Program program;
    ops::Builder b(program, program.body);
    const ir::Type one{ir::DType::f32, shape};
    optim::UpdateInputs in;
    in.parameter = program.add_argument(ir::Role::state, "theta", one);
    for (const optim::StateArray& array : arrays) {
        in.state.push_back(
            program.add_argument(ir::Role::state, array.name, {array.dtype, array.shape}));
    }
    if (group.optimizer->averages) {
        in.average = program.add_argument(ir::Role::state, "average", one);
    }
    in.gradient = program.add_argument(ir::Role::batch, "gradient", one);
    in.stays = ops::constant(b, stays);
    const auto rate = program.add_argument(ir::Role::scalar, "rate", {});
    const auto step = program.add_argument(ir::Role::scalar, "step", {ir::DType::i64, {}});
    in.scalars = group.optimizer->prepare(b, group.settings, rate, step);
    const optim::UpdateResult out = group.optimizer->update(b, group.settings, in);
    program.add_result(ir::Role::state, "theta", out.parameter);
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        program.add_result(ir::Role::state, arrays[i].name, out.state[i]);
    }
    if (group.optimizer->averages) {
        program.add_result(ir::Role::state, "average", out.average);
    }
    return program;
}

/// Theta and what is kept beside it: zeros, and an average that starts as theta.
std::vector<exec::Tensor> first_state(const ir::Program& program,
                                      const std::vector<double>& theta) {
    std::vector<exec::Tensor> out;
    for (std::size_t i = 0; i < program.results.size(); ++i) {
        const ir::Port& port = program.arguments[i];
        out.emplace_back(program.type(port.value));
        for (std::size_t k = 0; k < theta.size() && (i == 0 || port.name == "average"); ++k) {
            out.back().span<float>()[k] = static_cast<float>(theta[k]);
        }
    }
    return out;
}

/// The state after the update that follows `done` others.
std::vector<exec::Tensor> stepped(const ir::Program& program,
                                  const std::vector<exec::Tensor>& state,
                                  const std::vector<double>& gradient, double rate,
                                  std::int64_t done) {
    std::vector<exec::Tensor> arguments = state;
    arguments.emplace_back(state[0].type);
    for (std::size_t k = 0; k < gradient.size(); ++k) {
        arguments.back().span<float>()[k] = static_cast<float>(gradient[k]);
    }
    arguments.emplace_back(ir::Type{ir::DType::f32, {}});
    arguments.back().span<float>()[0] = static_cast<float>(rate);
    arguments.emplace_back(ir::Type{ir::DType::i64, {}});
    arguments.back().span<std::int64_t>()[0] = done;
    return exec::interpret(program, arguments);
}

/// theta after each of these gradients, from theta = 1.
std::vector<float> run_steps(const Json& section, double rate, const std::vector<double>& gradients) {
    const ir::Program program = update_program(section);
    std::vector<exec::Tensor> state = first_state(program, {1.0});
    std::vector<float> out;
    for (std::size_t k = 0; k < gradients.size(); ++k) {
        state = stepped(program, state, {gradients[k]}, rate, static_cast<std::int64_t>(k));
        out.push_back(state[0].span<float>()[0]);
    }
    return out;
}

/// sin of seed, seed + 1.7, ... in f32
std::vector<double> sines(std::size_t count, double seed) {
    std::vector<double> out;
    double x = seed;
    for (std::size_t i = 0; i < count; ++i) {
        out.push_back(static_cast<double>(static_cast<float>(std::sin(x))));
        x += 1.7;
    }
    return out;
}

} // namespace

class OptimizerTest : public QObject {
    Q_OBJECT
private slots:
    void every_optimizer_has_a_case() {
        std::set<std::string> with_case;
        for (const OptimizerCase& row : optimizer_cases()) {
            with_case.insert(config::json_of(row.section).at("type").get<std::string>());
        }
        for (const optim::OptimizerDef* def : optim::kOptimizers) {
            if (def->matrices_only || def == &optim::kAdafactor) {
                continue; // below
            }
            QVERIFY2(with_case.contains(std::string(def->name)), std::string(def->name).c_str());
        }
    }

    void ten_steps_follow_the_published_rule() {
        std::vector<double> gradients;
        for (int k = 0; k < 10; ++k) {
            gradients.push_back(static_cast<double>(static_cast<float>(std::cos(1.3 * k) + 0.2)));
        }
        for (const OptimizerCase& row : optimizer_cases()) {
            const auto found = run_steps(checked_section(row.section), 0.05, gradients);
            Scalar expected;
            for (int k = 0; k < 10; ++k) {
                row.rule(expected, gradients[static_cast<std::size_t>(k)], 0.05, k + 1);
                // f32 arithmetic on numbers around 1: a few ulps of 6e-8 per step
                QVERIFY2(std::abs(static_cast<double>(found[static_cast<std::size_t>(k)]) -
                                  expected.theta) < 2e-6,
                         (row.section + " step " + std::to_string(k + 1)).c_str());
            }
        }
    }

    void muon_makes_matrices_orthogonal_as_published_data() {
        QTest::addColumn<int>("rows");
        QTest::addColumn<int>("columns");
        QTest::newRow("wide") << 3 << 5;
        QTest::newRow("tall") << 6 << 2;
    }
    void muon_makes_matrices_orthogonal_as_published() {
        QFETCH(int, rows);
        QFETCH(int, columns);
        const auto count = static_cast<std::size_t>(rows * columns);
        const ir::Shape shape{rows, columns};
        const ir::Program program = update_program(
            checked_section(R"({"type": "muon", "momentum": 0.9, "weight_decay": 0.2})"), shape);
        Matrix theta = matrix_of(rows, columns, 0.3);
        Matrix velocity(theta.size(), std::vector<double>(theta[0].size(), 0.0));
        std::vector<exec::Tensor> state(2, exec::Tensor({ir::DType::f32, shape}));
        for (std::size_t i = 0; i < count; ++i) {
            state[0].span<float>()[i] = static_cast<float>(at(theta, i));
        }
        for (int k = 0; k < 3; ++k) {
            const Matrix gradient = matrix_of(rows, columns, 1.0 + k);
            std::vector<exec::Tensor> arguments = state;
            arguments.emplace_back(ir::Type{ir::DType::f32, shape});
            for (std::size_t i = 0; i < count; ++i) {
                arguments.back().span<float>()[i] = static_cast<float>(at(gradient, i));
            }
            arguments.emplace_back(ir::Type{ir::DType::f32, {}});
            arguments.back().span<float>()[0] = 0.05F;
            arguments.emplace_back(ir::Type{ir::DType::i64, {}});
            arguments.back().span<std::int64_t>()[0] = k;
            state = exec::interpret(program, arguments);
            muon_step(theta, velocity, gradient, 0.05);
            for (std::size_t i = 0; i < count; ++i) {
                QVERIFY(std::abs(static_cast<double>(state[0].span<float>()[i]) - at(theta, i)) <
                        2e-6);
            }
        }
    }

    void eight_bit_moments_take_ten_steps_as_published() {
        constexpr std::size_t kCount = 96; // three rows of a block of 32
        const ir::Program program = update_program(
            checked_section(R"({"type": "adamw_8bit", "full_below": 0, "weight_decay": 0.1})"),
            {3, 32});
        std::vector<double> theta = sines(kCount, 0.3);
        std::vector<exec::Tensor> state = first_state(program, theta);
        std::vector<double> m(kCount);
        std::vector<double> v(kCount);
        for (int t = 1; t <= 10; ++t) {
            std::vector<double> gradient = sines(kCount, t);
            for (std::size_t i = 0; i < kCount; ++i) {
                gradient[i] *= std::pow(10.0, -static_cast<double>(i % 7)); // all decades
                m[i] = 0.9 * m[i] + 0.1 * gradient[i];
                v[i] = 0.999 * v[i] + 0.001 * gradient[i] * gradient[i];
                theta[i] -= 0.05 * (m[i] / (1 - std::pow(0.9, t)) /
                                        (std::sqrt(v[i] / (1 - std::pow(0.999, t))) + 1e-8) +
                                    0.1 * theta[i]);
            }
            round_to_eight_bits(m, 32, true);
            round_to_eight_bits(v, 32, false);
            state = stepped(program, state, gradient, 0.05, t - 1);
        }
        for (std::size_t i = 0; i < kCount; ++i) {
            const auto found = static_cast<double>(state[0].span<float>()[i]);
            QVERIFY2(
                std::abs(found - theta[i]) < 2e-5 * std::max(1.0, std::abs(theta[i])),
                (std::to_string(i) + ": " + std::to_string(found) + " " + std::to_string(theta[i]))
                    .c_str());
        }
        QCOMPARE(state[1].type.bytes() + state[2].type.bytes(), kCount + 3 * 4);
    }

    void eight_bit_moments_stay_where_an_update_is_not_taken() {
        const Json section = checked_section(R"({"type": "adamw_8bit", "full_below": 0})");
        const auto moved = stepped(update_program(section, {2, 32}),
                                   first_state(update_program(section, {2, 32}), sines(64, 0.3)),
                                   sines(64, 1.0), 0.05, 0);
        const auto kept =
            stepped(update_program(section, {2, 32}, 1.0), moved, sines(64, 2.0), 0.05, 1);
        for (std::size_t i = 1; i < moved.size(); ++i) {
            QVERIFY(moved[i].data == kept[i].data);
        }
    }

    // torch.optim.Adafactor (2.15, in double): lr=0.05, eps=(1e-6, 1e-3), weight_decay=0.1.
    void adafactor_takes_ten_steps_as_pytorch_data() {
        QTest::addColumn<QList<int>>("shape");
        QTest::addColumn<QList<double>>("expected");
        QTest::newRow("matrix") << QList<int>{3, 4}
                                << QList<double>{0.231537052,  0.914552819,  -0.468758509,
                                                 -0.804554717, 0.683586362,  0.639549532,
                                                 -0.84526683,  -0.42495333,  0.955942632,
                                                 0.194711665,  -0.999584933, 0.0672998302};
        QTest::newRow("vector") << QList<int>{5}
                                << QList<double>{0.236439364, 0.922630563, -0.47815765,
                                                 -0.789721732, 0.68586423};
        QTest::newRow("three dimensions")
            << QList<int>{2, 3, 2}
            << QList<double>{0.235898133, 0.901073652, -0.4775346,   -0.80171101,
                             0.687518676, 0.647526468, -0.840985445, -0.418990647,
                             0.95137742,  0.176971071, -0.998291398, 0.0765233264};
    }
    void adafactor_takes_ten_steps_as_pytorch() {
        QFETCH(QList<int>, shape);
        QFETCH(QList<double>, expected);
        ir::Shape extents;
        for (const int extent : shape) {
            extents.push_back(extent);
        }
        const ir::Program program = update_program(
            checked_section(R"({"type": "adafactor", "eps": 1e-6, "weight_decay": 0.1})"), extents);
        const auto count = static_cast<std::size_t>(expected.size());
        std::vector<exec::Tensor> state = first_state(program, sines(count, 0.3));
        for (int k = 0; k < 10; ++k) {
            state = stepped(program, state, sines(count, 1.0 + k), 0.05, k);
        }
        for (std::size_t i = 0; i < count; ++i) {
            const auto is = static_cast<double>(state[0].span<float>()[i]);
            QVERIFY2(std::abs(is - expected[static_cast<qsizetype>(i)]) < 3e-6,
                     std::to_string(is).c_str());
        }
        // The second moment of a matrix is kept as two vectors.
        std::int64_t kept = 0;
        for (std::size_t i = 1; i < state.size(); ++i) {
            kept += state[i].type.shape.elements();
        }
        QCOMPARE(kept, shape.size() == 1   ? std::int64_t{5}
                       : shape.size() == 2 ? std::int64_t{3 + 4}
                                           : std::int64_t{2 * 3 + 2 * 2});
    }

    // The rate rises from 0, falls, and rises again: averages count by the largest one so far.
    void schedule_free_averages_by_the_largest_rate() {
        const std::vector<double> rates = {0.0, 0.02, 0.05, 0.03, 0.03, 0.06, 0.01, 0.0};
        const std::vector<double> gradients = sines(rates.size(), 0.9);
        const ir::Program program =
            update_program(checked_section(R"({"type": "schedule_free", "weight_decay": 0.2})"));
        std::vector<exec::Tensor> state = first_state(program, {1.0});
        double y = 1;
        double z = 1;
        double x = 1;
        double v = 0;
        double sum = 0;
        double largest = 0;
        for (std::size_t k = 0; k < rates.size(); ++k) {
            state = stepped(program, state, {gradients[k]}, rates[k], static_cast<std::int64_t>(k));
            largest = std::max(largest, rates[k]);
            sum += largest * largest;
            v = 0.999 * v + 0.001 * gradients[k] * gradients[k];
            const double corrected = v / (1 - std::pow(0.999, static_cast<double>(k + 1)));
            z -= rates[k] * (gradients[k] / (std::sqrt(corrected) + 1e-8) + 0.2 * y);
            x = sum > 0 ? x + largest * largest / sum * (z - x) : x;
            y = 0.1 * z + 0.9 * x;
            QVERIFY(std::abs(static_cast<double>(state.front().span<float>()[0]) - y) < 1e-6);
            QVERIFY(std::abs(static_cast<double>(state.back().span<float>()[0]) - x) < 1e-6);
        }
    }

    // Optax, computed by hand: FACTS C.
    void adamw_gives_the_reference_vector() {
        const auto found =
            run_steps(checked_section(R"({"type": "adamw", "weight_decay": 0.01})"), 0.1, {0.5, 0.5});
        QVERIFY(std::abs(found[0] - 0.899F) < 1e-6F);
        QVERIFY(std::abs(found[1] - 0.798101F) < 1e-6F);
    }

    // The recipe of tiny recursive models, computed by hand: FACTS A.
    void adam_atan2_gives_the_reference_vector() {
        const auto found = run_steps(
            checked_section(R"({"type": "adam_atan2", "weight_decay": 0.01})"), 0.1, {0.5, 0.5});
        QVERIFY(std::abs(found[0] - 0.89933135F) < 2e-7F);
        QVERIFY(std::abs(found[1] - 0.79960994F) < 2e-7F);
    }

    void adam_atan2_stays_where_there_never_was_a_gradient() {
        const auto found = run_steps(
            checked_section(R"({"type": "adam_atan2", "weight_decay": 0})"), 0.1, {0.0, 0.0});
        QCOMPARE(found[1], 1.0F);
    }

    // At step 100,000 the first moment's correction is 1 and the second's nearly so.
    void bias_correction_vanishes_late() {
        const ir::Program program = update_program(checked_section(R"({"type": "adam"})"));
        std::vector<exec::Tensor> arguments;
        for (const double value : {1.0, 0.25, 0.0625, 0.25, 0.1}) {
            const bool scalar = arguments.size() == 4;
            arguments.emplace_back(ir::Type{ir::DType::f32, scalar ? ir::Shape{} : ir::Shape{1}});
            arguments.back().span<float>()[0] = static_cast<float>(value);
        }
        arguments.emplace_back(ir::Type{ir::DType::i64, {}});
        arguments.back().span<std::int64_t>()[0] = 99999;
        const auto out = exec::interpret(program, arguments);
        // m and v stand at g and g^2, so the step is the rate: 1 - 0.1
        QVERIFY(std::abs(out[0].span<float>()[0] - 0.9F) < 1e-6F);
    }

    void the_first_group_that_matches_wins() {
        const Json section = checked_section(R"({"type": "adamw", "learning_rate": 0.5, "groups": [
            {"match": "*.bias", "weight_decay": 0},
            {"match": "head.*", "type": "sgd", "learning_rate": 0.25,
             "lr_schedule": {"type": "constant"}},
            {"match": "head.bias", "learning_rate": 9}]})");
        const auto groups = optim::resolve_groups(section);
        QCOMPARE(groups.size(), std::size_t{4});
        QCOMPARE(optim::group_of(groups, "head.bias"), std::size_t{0});
        QCOMPARE(optim::group_of(groups, "head.weight"), std::size_t{1});
        QCOMPARE(optim::group_of(groups, "body.weight"), std::size_t{3});
        QCOMPARE(groups[0].settings.at("weight_decay").get<double>(), 0.0);
        QCOMPARE(groups[0].settings.at("eps").get<double>(), 1e-8);
        QCOMPARE(groups[0].learning_rate, 0.5);
        QVERIFY(groups[0].lr_schedule.is_null());
        QCOMPARE(groups[1].optimizer->name, std::string_view("sgd"));
        QCOMPARE(groups[1].settings.at("momentum").get<double>(), 0.9); // sgd's own default
        QCOMPARE(groups[1].lr_schedule.at("type").get<std::string>(), std::string("constant"));
    }

    void a_group_of_another_type_inherits_what_both_types_have() {
        const Json section = checked_section(R"({"type": "adamw", "learning_rate": 0.5,
            "weight_decay": 0.25, "eps": 1e-4, "groups": [
            {"match": "a.*", "type": "sgd"}, {"match": "b.*", "type": "adam", "eps": 1e-3}]})");
        const auto groups = optim::resolve_groups(section);
        QCOMPARE(groups[0].learning_rate, 0.5);
        QCOMPARE(groups[0].settings.at("weight_decay").get<double>(), 0.25);
        QCOMPARE(groups[0].settings.at("momentum").get<double>(), 0.9); // sgd's own default
        QCOMPARE(groups[1].settings.at("weight_decay").get<double>(), 0.25);
        QCOMPARE(groups[1].settings.at("eps").get<double>(), 1e-3);
    }
};

WEFT_TEST(OptimizerTest)
#include "optimizer_test.moc"
