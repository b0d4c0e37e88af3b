// SPDX-License-Identifier: Apache-2.0
#include "core/nn/expression/expression.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/nn/expression/words.h"
#include "core/nn/functions.h"

#include <algorithm>

namespace weft::nn {
namespace {

using Form = ExpressionForm;
using TargetKind = ExpressionTargets::Kind;
using Rule = ExpressionWord::Rule;

constexpr const char* kNotClasses = "the targets are numbers, not classes";

/// A part with its value in the graph, which there is none of while only forms are looked at.
struct Made {
    Form form = Form::literal;
    ExpressionOperand operand{};
};

/// Goes over the tree once: forms first, and with a builder the ops that go with them.
class Maker {
public:
    Maker(const ExpressionTargets& targets, ops::Builder* builder, const Prediction* prediction)
        : targets_(targets), b_(builder), prediction_(prediction) {}

    Made make(const ExpressionNode& node) {
        if (problem_) {
            return {};
        }
        switch (node.kind) {
        case ExpressionNode::Kind::number: return literal(node.number);
        case ExpressionNode::Kind::name: return name(node);
        case ExpressionNode::Kind::call: break;
        }
        return node.word == "[]" ? element(node) : call(node);
    }

    /// The whole is one number per term, which the outputs decide.
    Made make_loss(const ExpressionNode& root) {
        const Made made = make(root);
        if (!problem_ && made.form == Form::values) {
            fail(root, "this gives a number per value, and a loss is one number per " + term(),
                 "Put mean(...) or sum(...) around it.");
        } else if (!problem_ && !reads_outputs_) {
            fail(root, "the outputs y do not occur, so that nothing would be learnt", "");
        }
        return made;
    }

    const std::optional<ExpressionProblem>& problem() const { return problem_; }

private:
    void fail(const ExpressionNode& node, std::string text, std::string hint) {
        if (!problem_) {
            problem_ = {node.column, std::move(text), std::move(hint)};
        }
    }

    static std::string term() { return "sample"; }

    Made literal(double number) const {
        return {Form::literal,
                {b_ == nullptr ? ir::ValueId() : ops::constant(*b_, number), number}};
    }

    Made name(const ExpressionNode& node) {
        if (node.word == "y") {
            reads_outputs_ = true;
            return {Form::values,
                    {b_ == nullptr ? ir::ValueId()
                                   : ops::cast(*b_, prediction_->output, ir::DType::f32)}};
        }
        if (node.word == "t") {
            return {targets_.kind == TargetKind::classes ? Form::label : Form::values, {target()}};
        }
        const ExpressionWord* word = find_expression_word(node.word);
        if (word != nullptr) {
            fail(node, "'" + node.word + "' needs what it is of",
                 "Write " + std::string(word->usage) + ".");
        } else {
            fail(node, "there is no '" + shown(node.word) + "' here", known_names(node.word));
        }
        return {};
    }

    ir::ValueId target() const {
        if (b_ == nullptr || targets_.kind == TargetKind::classes) {
            return prediction_ == nullptr ? ir::ValueId() : prediction_->target;
        }
        const ir::Shape shape = b_->shape(prediction_->output);
        return ops::cast(*b_, ops::reshape(*b_, prediction_->target, shape), ir::DType::f32);
    }

    static std::string known_names(std::string_view wrong) {
        std::vector<std::string> names;
        for (const ExpressionWord& word : expression_words()) {
            if (!word.usage.empty()) {
                names.emplace_back(word.name);
            }
        }
        const auto nearest = nearest_name(wrong, names);
        return nearest ? "Did you mean " + *nearest + "?"
                       : "Outputs are y, targets t; functions are " + join(names, ", ") + ".";
    }

    Made element(const ExpressionNode& node) {
        const Made of = make(node.operands[0]);
        if (problem_) {
            return {};
        }
        if (of.form != Form::values) {
            fail(node, "only outputs and what is made of them have numbered values", "");
            return {};
        }
        const double index = node.operands[1].number;
        if (targets_.values > 0 && index >= static_cast<double>(targets_.values)) {
            fail(node.operands[1],
                 "there are " + std::to_string(targets_.values) + " values, numbered from 0 to " +
                     std::to_string(targets_.values - 1),
                 "");
            return {};
        }
        return {Form::one, {b_ == nullptr ? ir::ValueId() : value_at(of.operand.value, index)}};
    }

    ir::ValueId value_at(ir::ValueId x, double index) const {
        const ir::Shape shape = b_->shape(x);
        std::vector<std::int64_t> starts(static_cast<std::size_t>(shape.rank()), 0);
        std::vector<std::int64_t> sizes(shape.begin(), shape.end());
        starts.back() = static_cast<std::int64_t>(index);
        sizes.back() = 1;
        ir::Shape terms;
        for (int dim = 0; dim + 1 < shape.rank(); ++dim) {
            terms.push_back(shape[dim]);
        }
        return ops::reshape(*b_, ops::slice(*b_, x, starts, sizes), terms);
    }

    Made call(const ExpressionNode& node) {
        const ExpressionWord* word = find_expression_word(node.word);
        if (word == nullptr) {
            fail(node, "there is no function '" + shown(node.word) + "'", known_names(node.word));
            return {};
        }
        if (std::ssize(node.operands) != word->operands) {
            fail(node,
                 node.word + " takes " + std::to_string(word->operands) +
                     (word->operands == 1 ? " operand" : " operands") + ", but here are " +
                     std::to_string(node.operands.size()),
                 word->usage.empty() ? "" : "Write " + std::string(word->usage) + ".");
            return {};
        }
        std::vector<Made> operands;
        for (const ExpressionNode& operand : node.operands) {
            operands.push_back(make(operand));
        }
        return problem_ ? Made() : applied(node, *word, operands);
    }

    Made applied(const ExpressionNode& node, const ExpressionWord& word, std::span<Made> operands) {
        Form form = Form::one;
        if (word.rule == Rule::each) {
            form = Form::literal;
            for (std::size_t i = 0; i < operands.size(); ++i) {
                if (operands[i].form == Form::label) {
                    fail(node.operands[i], "t is a class here, with which nothing can be computed",
                         "Use one_hot(t) or cross_entropy(y, t).");
                    return {};
                }
                form = std::max(form, operands[i].form); // in the order of how wide they are
            }
            spread(form, operands);
        } else if (!fits(node, word, operands)) {
            return {};
        } else if (word.rule == Rule::along || word.rule == Rule::one_hot) {
            form = Form::values;
        }
        Made out{form, {}};
        if (b_ != nullptr) {
            std::vector<ExpressionOperand> values;
            for (const Made& operand : operands) {
                values.push_back(operand.operand);
            }
            out.operand.value = word.make(*b_, values, targets_.values);
        }
        return out;
    }

    /// Where numbers of a term meet its values they become columns.
    void spread(Form form, std::span<Made> operands) const {
        for (Made& operand : operands) {
            if (b_ != nullptr && form == Form::values && operand.form == Form::one) {
                operand.operand.value = as_column(*b_, operand.operand.value);
            }
        }
    }

    bool fits(const ExpressionNode& node, const ExpressionWord& word, std::span<Made> operands) {
        const std::string name(word.name);
        if (word.rule == Rule::one_hot) {
            if (operands[0].form != Form::label) {
                fail(node.operands[0],
                     targets_.kind == TargetKind::classes ? "one_hot is of t alone" : kNotClasses,
                     targets_.kind == TargetKind::classes ? "Write one_hot(t)." : "Use t itself.");
            }
        } else if (operands[0].form == Form::label) {
            fail(node.operands[0], "t is a class here, with which nothing can be computed",
                 "Use one_hot(t) or cross_entropy(y, t).");
        } else if (operands[0].form != Form::values) {
            fail(node.operands[0],
                 name + " needs the values of a " + term() + ", and this is one " +
                     "number already",
                 "Leave " + name + " out here.");
        } else if (word.rule == Rule::to_label && operands[1].form != Form::label) {
            fail(node.operands[1],
                 targets_.kind == TargetKind::classes ? "the second operand is t alone"
                                                      : kNotClasses,
                 targets_.kind == TargetKind::classes ? "Write cross_entropy(y, t)."
                                                      : "Use sum(t * -log_softmax(y)).");
        }
        return !problem_;
    }

    ExpressionTargets targets_;
    ops::Builder* b_;
    const Prediction* prediction_;
    bool reads_outputs_ = false;
    std::optional<ExpressionProblem> problem_;
};

std::optional<ExpressionProblem> problem_of(const ExpressionNode& root,
                                            const ExpressionTargets& targets) {
    Maker maker(targets, nullptr, nullptr);
    maker.make_loss(root);
    return maker.problem();
}

} // namespace

std::optional<ExpressionProblem> find_problem(std::string_view expression,
                                              const ExpressionTargets& targets) {
    const ParsedExpression parsed = parse_expression(expression);
    if (parsed.problem || targets.kind != TargetKind::unknown) {
        return parsed.problem ? parsed.problem : problem_of(parsed.root, targets);
    }
    const auto of_numbers = problem_of(parsed.root, {TargetKind::numbers, targets.values});
    const auto of_classes = problem_of(parsed.root, {TargetKind::classes, targets.values});
    if (!of_numbers || !of_classes) {
        return std::nullopt;
    }
    return of_numbers->text == kNotClasses ? of_classes : of_numbers;
}

ir::ValueId build_expression(ops::Builder& b, std::string_view expression, const Prediction& p) {
    const bool classes = !ir::is_float(b.type(p.target).dtype);
    const ExpressionTargets targets{classes ? TargetKind::classes : TargetKind::numbers,
                                    b.shape(p.output).back()};
    ParsedExpression parsed = parse_expression(expression);
    std::optional<ExpressionProblem> problem = std::move(parsed.problem);
    problem = problem ? std::move(problem) : problem_of(parsed.root, targets);
    if (problem) {
        throw Error(ErrorKind::usage, "/loss/expression",
                    "column " + std::to_string(problem->column) + ": " + problem->text,
                    problem->hint);
    }
    if (!classes) {
        return Maker(targets, &b, &p).make_loss(parsed.root).operand.value;
    }
    // A term that does not count is made of a class that there is: 0 times its gradient is 0 then.
    Prediction there = p;
    there.target =
        ops::cast(b, ops::maximum(b, ops::cast(b, p.target, ir::DType::f32), ops::constant(b, 0.0)),
                  b.type(p.target).dtype);
    const ir::ValueId terms = Maker(targets, &b, &there).make_loss(parsed.root).operand.value;
    return ops::select(b, counted_targets(b, p.target), terms, ops::constant(b, 0.0));
}

} // namespace weft::nn
