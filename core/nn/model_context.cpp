// SPDX-License-Identifier: Apache-2.0
#include "core/nn/model_context.h"

#include "core/base/error.h"

#include <algorithm>
#include <cmath>

namespace weft::nn {

Init Init::fan_in(std::int64_t inputs) {
    return {Kind::uniform, 1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(inputs, 1)))};
}

std::string ModelContext::full_name(std::string_view name) const {
    return path().empty() ? std::string(name) : path() + "." + std::string(name);
}

ir::ValueId ModelContext::variable(Variable wanted) {
    wanted.name = full_name(wanted.name);
    const auto same_name = [&](const auto& entry) { return entry.name == wanted.name; };
    if (const auto known = std::find_if(variables_.begin(), variables_.end(), same_name);
        known != variables_.end()) {
        WEFT_CHECK(known->shape == wanted.shape && known->kind == wanted.kind,
                   "variable " + wanted.name + " is used with two shapes");
        return known->value;
    }
    const auto bound = std::find_if(bound_.begin(), bound_.end(),
                                    [&](const auto& entry) { return entry.first == wanted.name; });
    if (bound != bound_.end()) {
        wanted.value = bound->second;
    } else {
        wanted.value = builder_.program().add_argument(ir::Role::state, wanted.name,
                                                       {ir::DType::f32, wanted.shape});
    }
    variables_.push_back(wanted);
    return wanted.value;
}

ir::ValueId ModelContext::parameter(std::string_view name, ir::Shape shape, Init init,
                                    std::vector<std::string> logical_axes) {
    WEFT_CHECK(static_cast<int>(logical_axes.size()) == shape.rank(),
               "a parameter names one logical axis per dimension");
    return variable(
        {Variable::Kind::parameter, std::string(name), shape, init, std::move(logical_axes), {}});
}

ir::ValueId ModelContext::table_rows(std::string_view name, std::int64_t count, std::int64_t width,
                                     ir::ValueId ids) {
    const ir::ValueId table = variable({.kind = Variable::Kind::parameter,
                                        .name = std::string(name),
                                        .shape = {count, width},
                                        .init = Init::zeros(),
                                        .logical_axes = {"", ""},
                                        .by_row = true});
    const ir::ValueId rows = builder_.emit("read_rows", {table, ids});
    readings_.push_back({full_name(name), ids, rows});
    return rows;
}

ir::ValueId ModelContext::statistic(std::string_view name, ir::Shape shape, Init init) {
    const auto rank = static_cast<std::size_t>(shape.rank());
    return variable({Variable::Kind::statistic,
                     std::string(name),
                     shape,
                     init,
                     std::vector<std::string>(rank),
                     {}});
}

ir::ValueId ModelContext::cache(std::string_view name, ir::Shape shape) {
    const auto rank = static_cast<std::size_t>(shape.rank());
    return variable({Variable::Kind::cache,
                     std::string(name),
                     shape,
                     Init::zeros(),
                     std::vector<std::string>(rank),
                     {}});
}

ir::ValueId ModelContext::carry(std::string_view name, const ir::Shape& shape) {
    WEFT_CHECK(fresh().valid(), "rows keep something where they are held");
    ir::Shape rows{builder_.shape(fresh())[0]};
    for (const std::int64_t extent : shape) {
        rows.push_back(extent);
    }
    const auto rank = static_cast<std::size_t>(rows.rank());
    return variable({Variable::Kind::carry,
                     std::string(name),
                     rows,
                     Init::zeros(),
                     std::vector<std::string>(rank),
                     {}});
}

void ModelContext::update(std::string_view name, ir::ValueId value) {
    updates_.emplace_back(full_name(name), value);
}

void ModelContext::penalise(ir::ValueId per_sample) {
    penalty_ = penalty_.valid() ? ops::add(builder_, penalty_, per_sample) : per_sample;
}

void ModelContext::publish(std::string name, ir::ValueId value) {
    published_.emplace_back(std::move(name), value);
}

void ModelContext::bind(const std::string& full_name, ir::ValueId value) {
    bound_.emplace_back(full_name, value);
}

void ModelContext::fail(const std::string& text, std::string hint) const {
    throw Error(ErrorKind::usage, path().empty() ? "model" : path(), text, std::move(hint));
}

Scope::Scope(ModelContext& context, std::string_view name)
    : context_(context), outer_(context.path()) {
    context.builder_.set_path(context.full_name(name));
}

Scope::~Scope() {
    context_.builder_.set_path(outer_);
}

} // namespace weft::nn
