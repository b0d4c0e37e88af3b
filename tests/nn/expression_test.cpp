// SPDX-License-Identifier: Apache-2.0
// Expressions against the same written here in double, their gradients against central differences
// of that, and what is said of wrong ones.
#include "core/base/error.h"
#include "core/nn/expression/expression.h"
#include "core/nn/expression/words.h"
#include "tests/nn/loss_figures.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>
#include <functional>

using namespace weft;
using nn::ExpressionTargets;
using Values = std::vector<double>;

namespace {

// No value at a bend of what is written below.
const std::vector<float> kOwnOutputs = {0.5F, 1.25F, 2.0F, 0.75F, 3.0F, 0.2F};
const std::vector<float> kOwnNumbers = {1.0F, 0.3F, 0.25F, 0.6F, 1.0F, 1.5F};
const std::vector<std::int32_t> kOwnClasses = {2, 0};

struct ExpressionCase {
    std::string text;
    std::function<double(const Values& y, const Values& t)> of; // of classes t is one-hot
    bool classes = false;
};

double mean_by(const Values& y, const Values& t, const std::function<double(double, double)>& of) {
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        sum += of(y[i], t[i]);
    }
    return sum / static_cast<double>(y.size());
}

double log_sum(const Values& y) {
    double sum = 0;
    for (const double value : y) {
        sum += std::exp(value);
    }
    return std::log(sum);
}

ExpressionCase each(std::string text, std::function<double(double, double)> of) {
    return {"mean(" + text + ")",
            [of](const Values& y, const Values& t) { return mean_by(y, t, of); }};
}

const std::vector<ExpressionCase>& expression_cases() {
    static const std::vector<ExpressionCase> cases = {
        {"mean(square(y - t)) + 0.1 * mean(abs(y))",
         [](const Values& y, const Values& t) {
             return mean_by(
                 y, t, [](double a, double b) { return (a - b) * (a - b) + 0.1 * std::abs(a); });
         }},
        // Precedence: ^ before minus, to the right; minus before *; comparisons last.
        each("-y^2 + t", [](double y, double t) { return -(y * y) + t; }),
        each("y^2^0.5", [](double y, double) { return std::pow(y, std::sqrt(2.0)); }),
        each("2 - y - t * -3", [](double y, double t) { return 2 - y + 3 * t; }),
        each("12 / y / t", [](double y, double t) { return 12 / y / t; }),
        each("y ^ -1.5 * y^1", [](double y, double) { return std::pow(y, -0.5); }),
        each("y^t", [](double y, double t) { return std::pow(y, t); }),
        each("(y < t) * y", [](double y, double t) { return y < t ? y : 0; }),
        each("(y > t) * y", [](double y, double t) { return y > t ? y : 0; }),
        each("(y <= 2) * y + (y >= 2) * y * y",
             [](double y, double) { return y < 2   ? y
                                           : y > 2 ? y * y
                                                   : y + y * y; }),
        each("(t == 1) * y - (t != 1) * y", [](double y, double t) { return t == 1 ? y : -y; }),
        each("where(y - t > 0, y * t, exp(-y))",
             [](double y, double t) { return y > t ? y * t : std::exp(-y); }),
        each("sqrt(y) + log(y) * log1p(t) + abs(-y)",
             [](double y, double t) { return std::sqrt(y) + std::log(y) * std::log1p(t) + y; }),
        each("tanh(y) * sigmoid(t - y) + softplus(y)",
             [](double y, double t) {
                 return std::tanh(y) / (1 + std::exp(y - t)) + std::log1p(std::exp(y));
             }),
        each("relu(y - t) + sign(t - y) * y",
             [](double y, double t) { return y > t ? y - t - y : y; }),
        each("min(y, t) + max(y, 2 * t) + clip(y, 0.4, 1)",
             [](double y, double t) {
                 return std::min(y, t) + std::max(y, 2 * t) + std::clamp(y, 0.4, 1.0);
             }),
        {"sqrt(mean(square(y - t)))", // per sample
         [](const Values& y, const Values& t) {
             return std::sqrt(mean_by(y, t, [](double a, double b) { return (a - b) * (a - b); }));
         }},
        {"sum((y - mean(y))^2) * y[0] - t[2] * y[1]",
         [](const Values& y, const Values& t) {
             const double middle = (y[0] + y[1] + y[2]) / 3;
             double sum = 0;
             for (const double value : y) {
                 sum += (value - middle) * (value - middle);
             }
             return sum * y[0] - t[2] * y[1];
         }},
        {"-sum(t * log_softmax(y)) + 1e-2 * sum(softmax(y) * t)",
         [](const Values& y, const Values& t) {
             double out = 0;
             for (std::size_t i = 0; i < 3; ++i) {
                 out += -t[i] * (y[i] - log_sum(y)) + 0.01 * t[i] * std::exp(y[i] - log_sum(y));
             }
             return out;
         }},
        {"cross_entropy(y, t) * (1 - exp(-cross_entropy(y, t)))",
         [](const Values& y, const Values& t) {
             const double nats = log_sum(y) - y[0] * t[0] - y[1] * t[1] - y[2] * t[2];
             return nats * (1 - std::exp(-nats));
         },
         true},
        {"mean(square(sigmoid(y) - one_hot(t)))",
         [](const Values& y, const Values& t) {
             return mean_by(y, t, [](double a, double b) {
                 const double p = 1 / (1 + std::exp(-a));
                 return (p - b) * (p - b);
             });
         },
         true},
    };
    return cases;
}

struct WrongCase {
    std::string text;
    std::size_t column;
    std::string says; // part of the message
    std::string hint; // part of it
};

const std::vector<WrongCase>& wrong_cases() {
    static const std::vector<WrongCase> cases = {
        {"", 1, "the expression ends where a number, a name or '(' should be", ""},
        {"mean(square(y - t)", 19, "the expression ends where ',' or ')' should be", ""},
        {"mean(y -) + 1", 9, "')' stands where a number, a name or '(' should be", ""},
        {"mean(y) mean(t)", 9, "'m' stands where an operator or the end should be", ""},
        {"mean(sqare(y))", 6, "there is no function 'sqare'", "Did you mean square?"},
        {"mean(y - target)", 10, "there is no 'target' here", "targets t"},
        {"mean(y - log)", 10, "'log' needs what it is of", "log(x)"},
        {"mean(clip(y, 0))", 6, "clip takes 3 operands, but here are 2", "clip(x, low, high)"},
        {"square(y - t)", 1, "a number per value", "mean(...)"},
        {"  y - t", 5, "a number per value", "mean(...)"},
        {"mean(t)", 1, "the outputs y do not occur", ""},
        {"mean(mean(y))", 6, "one number already", "Leave mean out"},
        {"softmax(mean(y))", 9, "one number already", ""},
        {"mean(0 < y < 1)", 12, "comparisons do not chain", "(a < b) * (b < c)"},
        {"mean(y = t)", 8, "'='", "=="},
        {"mean(y**2)", 7, "'**' is no operator", "^"},
        {"mean(2y)", 7, "a name right behind a number", "*"},
        {"mean(y[1.5])", 8, "whole number", ""},
        {"mean(y)[0]", 8, "only outputs", ""},
        {"mean(1e99 * y)", 6, "no number of 32 bits", ""},
        {"mean(1e-60 * y)", 6, "no number of 32 bits", ""},
        {std::string("mean(y)\0+ 1", 11), 8, "code 0", ""},
        {"mean(µ * y)", 6, "'µ' stands where", ""},
        {"mean(y) + \"µ\"", 11, "stands where", ""},
        {"mean(y - one_hot(1))", 18, "", ""},
    };
    return cases;
}

test::LossInput input_for(bool classes) {
    test::LossInput input{.outputs = kOwnOutputs};
    if (classes) {
        input.classes = kOwnClasses;
    } else {
        input.numbers = kOwnNumbers;
    }
    return input;
}

Values targets_of(bool classes, std::size_t sample) {
    if (!classes) {
        const auto first = kOwnNumbers.begin() + static_cast<std::ptrdiff_t>(sample * 3);
        return {first, first + 3};
    }
    Values out(3, 0.0);
    out[static_cast<std::size_t>(kOwnClasses[sample])] = 1;
    return out;
}

std::string settings_of(const std::string& text) {
    return config::Json{{"type", "expression"}, {"expression", text}}.dump();
}

} // namespace

class ExpressionTest : public QObject {
    Q_OBJECT
private slots:
    void values_and_gradients_are_those_of_the_same_in_double() {
        for (const ExpressionCase& row : expression_cases()) {
            const auto found = test::figures_of(settings_of(row.text), input_for(row.classes));
            for (std::size_t sample = 0; sample < 2; ++sample) {
                const auto first = kOwnOutputs.begin() + static_cast<std::ptrdiff_t>(sample * 3);
                const Values y(first, first + 3);
                const Values t = targets_of(row.classes, sample);
                const double expected = row.of(y, t);
                QVERIFY2(std::abs(found.terms[sample] - expected) < 2e-6 * (1 + std::abs(expected)),
                         row.text.c_str());
                for (std::size_t i = 0; i < 3; ++i) {
                    Values above = y;
                    Values below = y;
                    above[i] += 1e-6;
                    below[i] -= 1e-6;
                    const double slope = (row.of(above, t) - row.of(below, t)) / 2e-6;
                    const double is = found.gradient[sample * 3 + i];
                    // y == 2 is a bend of one row; nothing is said of the slope there.
                    const bool bend = y[i] == 2 && row.text.find("<= 2") != std::string::npos;
                    QVERIFY2(bend || std::abs(is - slope) < 5e-6 * (1 + std::abs(slope)),
                             (row.text + " value " + std::to_string(i)).c_str());
                }
            }
        }
    }

    void a_term_that_does_not_count_has_no_slope_however_it_is_written() {
        test::LossInput input = input_for(true);
        input.classes = {-1, input.classes[1]};
        const auto found =
            test::figures_of(settings_of("-log(sum(one_hot(t) * softmax(y)))"), input);
        QCOMPARE(found.terms[0], 0.0);
        for (std::size_t i = 0; i < 3; ++i) {
            QCOMPARE(found.gradient[i], 0.0);
        }
        QVERIFY(found.terms[1] > 0);
    }

    void every_function_and_operator_occurs_in_a_case() {
        for (const nn::ExpressionWord& word : nn::expression_words()) {
            const std::string text = word.usage.empty()
                                         ? (word.name == "neg" ? "-y" : std::string(word.name))
                                         : std::string(word.name) + "(";
            const auto& cases = expression_cases();
            QVERIFY2(std::any_of(cases.begin(), cases.end(),
                                 [&](const ExpressionCase& row) {
                                     return row.text.find(text) != std::string::npos;
                                 }),
                     text.c_str());
        }
    }

    void what_is_wrong_is_told_with_its_column() {
        for (const WrongCase& row : wrong_cases()) {
            const auto problem = nn::find_problem(row.text, {});
            QVERIFY2(problem.has_value(), row.text.c_str());
            const std::string is = row.text + " -> " + std::to_string(problem->column) + ": " +
                                   problem->text + " | " + problem->hint;
            QVERIFY2(problem->column == row.column, is.c_str());
            QVERIFY2(problem->text.find(row.says) != std::string::npos, is.c_str());
            QVERIFY2(problem->hint.find(row.hint) != std::string::npos, is.c_str());
        }
    }

    void what_suits_one_kind_of_targets_is_refused_with_the_other() {
        using enum ExpressionTargets::Kind;
        for (const char* text : {"mean(square(y - one_hot(t)))", "cross_entropy(y, t)"}) {
            QVERIFY2(!nn::find_problem(text, {}), text);
            QVERIFY2(!nn::find_problem(text, {classes, 3}), text);
            const auto problem = nn::find_problem(text, {numbers, 3});
            QVERIFY2(problem && problem->text == "the targets are numbers, not classes", text);
        }
        QVERIFY(!nn::find_problem("mean(y - t)", {numbers, 3}));
        const auto problem = nn::find_problem("mean(y - t)", {classes, 3});
        QVERIFY(problem && problem->column == 10);
        QVERIFY(problem->hint == "Use one_hot(t) or cross_entropy(y, t).");
    }

    void an_output_that_is_not_there_is_told_where_they_are_counted() {
        QVERIFY(!nn::find_problem("y[7]", {}));
        const auto problem = nn::find_problem("y[2] + y[3]", {ExpressionTargets::Kind::numbers, 3});
        QVERIFY(problem && problem->column == 10);
        QVERIFY(problem->text == "there are 3 values, numbered from 0 to 2");
        try {
            test::figures_of(settings_of("y[3]"), input_for(false));
            QFAIL("there is no such output");
        } catch (const Error& error) {
            QCOMPARE(error.where(), std::string("/loss/expression"));
            QVERIFY(error.text().starts_with("column 3: "));
        }
    }

    void what_is_too_long_or_too_deep_is_refused() {
        const std::string deep = std::string(500, '(') + "y" + std::string(500, ')');
        QVERIFY(nn::find_problem(deep, {})->text.find("64 parts") != std::string::npos);
        QVERIFY(nn::find_problem(std::string(500, '-') + "mean(y)", {}).has_value());
        std::string powers = "mean(y";
        std::string sums = "mean(y)";
        for (int i = 0; i < 500; ++i) {
            powers += "^y";
            sums += "+1";
        }
        QVERIFY(nn::find_problem(powers + ")", {}).has_value());
        QVERIFY(nn::find_problem(sums, {})->text.find("200 operators") != std::string::npos);
        QVERIFY(nn::find_problem(std::string(5000, ' ') + "mean(y)", {})->text.find("4,000") !=
                std::string::npos);
    }
};

WEFT_TEST(ExpressionTest)
#include "expression_test.moc"
