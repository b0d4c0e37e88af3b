// SPDX-License-Identifier: Apache-2.0
#include "core/passes/model_blocks.h"

#include <algorithm>
#include <map>
#include <string>

namespace weft::passes {
namespace {

bool is_number(std::string_view component) {
    return !component.empty() && std::all_of(component.begin(), component.end(),
                                             [](char c) { return c >= '0' && c <= '9'; });
}

/// The component that starts at `from`.
std::string_view component_at(std::string_view path, std::size_t from) {
    return from >= path.size() ? std::string_view()
                               : path.substr(from, path.find('.', from) - from);
}

/// End of the run of numbers that starts at `from`, without the dot behind; `from` - 1 when there
/// is none.
std::size_t end_of_numbers(std::string_view path, std::size_t from) {
    for (std::string_view next = component_at(path, from); is_number(next);
         next = component_at(path, from)) {
        from += next.size() + 1;
    }
    return from - 1;
}

/// "layers" of "layers.3": what the layers of one list have in common.
std::string_view list_of_layers(std::string_view block) {
    const std::size_t dot = block.rfind('.');
    return dot == std::string_view::npos ? std::string_view() : block.substr(0, dot);
}

bool reads_matrix(const ir::Program& program, const ir::Op& op, const std::vector<bool>& weights) {
    return std::any_of(op.inputs.begin(), op.inputs.end(), [&](ir::ValueId id) {
        return weights[static_cast<std::size_t>(id.index)] && program.type(id).shape.rank() >= 2;
    });
}

} // namespace

std::string_view block_of_path(std::string_view path) {
    constexpr std::string_view kCopies = ".copies.";
    std::size_t start = 0;
    for (std::string_view next = component_at(path, 0); !next.empty() && !is_number(next);
         next = component_at(path, start)) {
        start += next.size() + 1;
    }
    if (start == 0 || start >= path.size()) {
        return component_at(path, 0);
    }
    std::size_t end = end_of_numbers(path, start);
    while (path.substr(end, kCopies.size()) == kCopies) {
        end = end_of_numbers(path, end + kCopies.size());
    }
    return path.substr(0, end);
}

std::vector<int> number_blocks(const ir::Program& program, const ir::Block& block,
                               const std::vector<bool>& weights) {
    std::vector<std::string_view> names; // in order of appearance
    std::map<std::string_view, int> found;
    std::vector<bool> has_matrix;
    std::vector<int> numbers;
    for (const ir::Op& op : block.ops) {
        const std::string_view name = block_of_path(op.path);
        const auto [at, is_new] = found.try_emplace(name, static_cast<int>(names.size()));
        if (is_new) {
            names.push_back(name);
            has_matrix.push_back(false);
        }
        const auto number = static_cast<std::size_t>(at->second);
        has_matrix[number] = has_matrix[number] || reads_matrix(program, op, weights);
        numbers.push_back(at->second);
    }
    std::vector<int> joined(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string_view list = list_of_layers(names[i]);
        const bool joins =
            i > 0 && !has_matrix[i] && !list.empty() && list == list_of_layers(names[i - 1]);
        joined[i] = joins ? joined[i - 1] : static_cast<int>(i);
    }
    for (int& number : numbers) {
        number = joined[static_cast<std::size_t>(number)];
    }
    return numbers;
}

} // namespace weft::passes
