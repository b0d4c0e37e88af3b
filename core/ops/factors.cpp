// SPDX-License-Identifier: Apache-2.0
// Factor rules: the einsum notation and the two general rules.
#include "core/ops/rules.h"

#include <map>

namespace weft::ops {
namespace {

using Dimension = std::vector<std::string>; // factor names, major to minor
using Operand = std::vector<Dimension>;

// "...k(hg)" for an operand of a given rank. Ellipsis factors are counted from the right, so that
// operands of different rank share the dimensions that they have in common.
Operand parse_operand(std::string_view text, int rank) {
    Operand named;
    const bool ellipsis = text.starts_with("...");
    text.remove_prefix(ellipsis ? 3 : 0);
    for (std::size_t at = 0; at < text.size(); ++at) {
        Dimension dimension;
        if (text[at] == '(') {
            while (text[++at] != ')') {
                dimension.push_back(std::string(1, text[at]));
            }
        } else {
            dimension.push_back(std::string(1, text[at]));
        }
        named.push_back(dimension);
    }
    Operand out;
    if (ellipsis) {
        for (int left = rank - static_cast<int>(named.size()); left > 0; --left) {
            out.push_back({"." + std::to_string(left)});
        }
    }
    out.insert(out.end(), named.begin(), named.end());
    WEFT_CHECK(static_cast<int>(out.size()) == rank, "factor notation has the operand's rank");
    return out;
}

std::vector<std::string_view> split_list(std::string_view text) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t comma = text.find(',');
        parts.push_back(text.substr(0, comma));
        if (comma == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(comma + 1);
    }
}

// Solves the sizes of all factors and numbers them in order of appearance.
class Notation {
public:
    void add(const Operand& operand, const ir::Shape& shape) {
        for (int dim = 0; dim < shape.rank(); ++dim) {
            dimensions_.emplace_back(operand[static_cast<std::size_t>(dim)], shape[dim]);
        }
    }

    void solve() {
        for (const auto& [names, extent] : dimensions_) {
            if (names.size() == 1) {
                sizes_.emplace(names[0], extent);
            }
        }
        for (const auto& [names, extent] : dimensions_) {
            std::int64_t rest = extent;
            std::string unknown;
            for (const std::string& name : names) {
                const auto known = sizes_.find(name);
                if (known == sizes_.end()) {
                    unknown = name;
                } else if (known->second != 0) {
                    rest /= known->second;
                }
            }
            if (!unknown.empty()) {
                sizes_.emplace(unknown, rest);
            }
        }
    }

    int factor(const std::string& name, std::span<const Mark> marks, FactorRule& rule) {
        const auto [at, added] = numbers_.emplace(name, static_cast<int>(rule.factors.size()));
        if (added) {
            Factor out{name, sizes_.at(name), Combine::pointwise, 0.0};
            for (const Mark& mark : marks) {
                if (mark.factor == name[0]) {
                    out.combine = mark.combine;
                    out.neutral = mark.neutral;
                }
            }
            rule.factors.push_back(out);
        }
        return at->second;
    }

private:
    std::vector<std::pair<Dimension, std::int64_t>> dimensions_;
    std::map<std::string, std::int64_t> sizes_;
    std::map<std::string, int> numbers_;
};

std::vector<std::vector<int>> numbered(const Operand& operand, Notation& notation,
                                       std::span<const Mark> marks, FactorRule& rule) {
    std::vector<std::vector<int>> out;
    for (const Dimension& dimension : operand) {
        std::vector<int>& factors = out.emplace_back();
        for (const std::string& name : dimension) {
            factors.push_back(notation.factor(name, marks, rule));
        }
    }
    return out;
}

} // namespace

FactorRule einsum(const OpView& view, std::string_view text, std::initializer_list<Mark> marks) {
    const std::size_t arrow = text.find("->");
    const std::vector<std::string_view> inputs = split_list(text.substr(0, arrow));
    const std::vector<std::string_view> outputs = split_list(text.substr(arrow + 2));
    WEFT_CHECK(static_cast<int>(inputs.size()) >= view.inputs() &&
                   static_cast<int>(outputs.size()) >= view.outputs(),
               "factor notation names every operand");
    Notation notation;
    std::vector<Operand> in;
    std::vector<Operand> out;
    for (int i = 0; i < view.inputs(); ++i) {
        const ir::Shape& shape = view.input(i).shape;
        in.push_back(parse_operand(inputs[static_cast<std::size_t>(i)], shape.rank()));
        notation.add(in.back(), shape);
    }
    for (int i = 0; i < view.outputs(); ++i) {
        const ir::Shape& shape = view.output(i).shape;
        out.push_back(parse_operand(outputs[static_cast<std::size_t>(i)], shape.rank()));
        notation.add(out.back(), shape);
    }
    notation.solve();
    FactorRule rule;
    const std::span<const Mark> mark_list(marks.begin(), marks.size());
    for (const Operand& operand : in) {
        rule.inputs.push_back(numbered(operand, notation, mark_list, rule));
    }
    for (const Operand& operand : out) {
        rule.outputs.push_back(numbered(operand, notation, mark_list, rule));
    }
    return rule;
}

RuleBuilder::RuleBuilder(const OpView& view) : view_(view) {
    for (int i = 0; i < view.inputs(); ++i) {
        rule_.inputs.emplace_back(static_cast<std::size_t>(view.input(i).shape.rank()));
    }
    for (int i = 0; i < view.outputs(); ++i) {
        rule_.outputs.emplace_back(static_cast<std::size_t>(view.output(i).shape.rank()));
    }
}

int RuleBuilder::add(std::int64_t size, Combine combine, double neutral) {
    const int index = static_cast<int>(rule_.factors.size());
    rule_.factors.push_back({"f" + std::to_string(index), size, combine, neutral});
    return index;
}

FactorRule RuleBuilder::finish() {
    const auto complete = [&](Operands& operands, auto&& type_of) {
        for (int operand = 0; operand < static_cast<int>(operands.size()); ++operand) {
            const ir::Shape& shape = type_of(operand).shape;
            for (int dim = 0; dim < shape.rank(); ++dim) {
                std::vector<int>& factors = slot(operands, operand, dim);
                if (factors.empty() && shape[dim] != 1) {
                    factors.push_back(add(shape[dim], Combine::whole));
                }
            }
        }
    };
    complete(rule_.inputs, [&](int i) -> const ir::Type& { return view_.input(i); });
    complete(rule_.outputs, [&](int i) -> const ir::Type& { return view_.output(i); });
    return rule_;
}

FactorRule elementwise_factors(const OpView& view) {
    RuleBuilder rule(view);
    const ir::Shape& shape = view.output(0).shape;
    for (int dim = 0; dim < shape.rank(); ++dim) {
        const int factor = rule.add(shape[dim]);
        for (int i = 0; i < view.outputs(); ++i) {
            rule.output(i, dim, factor);
        }
        for (int i = 0; i < view.inputs(); ++i) {
            const ir::Shape& operand = view.input(i).shape;
            const int aligned = dim - (shape.rank() - operand.rank());
            if (aligned >= 0 && operand[aligned] == shape[dim]) {
                rule.input(i, aligned, factor);
            }
        }
    }
    return rule.finish();
}

FactorRule whole_factors(const OpView& view) {
    return RuleBuilder(view).finish();
}

ir::Attributes localise_shape(const OpView& view, std::span<const ir::Type>,
                              std::span<const ir::Type> outputs) {
    ir::Attributes out = view.attributes();
    out.set("shape", list_of_shape(outputs[0].shape));
    return out;
}

} // namespace weft::ops
