// SPDX-License-Identifier: Apache-2.0
#include "core/nn/models/graph_text.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/ops/op_def.h"

#include <algorithm>
#include <set>

namespace weft::nn {
namespace {

using ir::Role;

[[noreturn]] void fail(ir::TextPlace place, const std::string& text, std::string hint = {}) {
    throw Error(ErrorKind::usage, ir::to_text(place), text, std::move(hint));
}

constexpr std::pair<Init::Kind, std::string_view> kInits[] = {
    {Init::Kind::zeros, "zeros"},
    {Init::Kind::ones, "ones"},
    {Init::Kind::normal, "normal"},
    {Init::Kind::uniform, "uniform"},
    {Init::Kind::truncated_normal, "truncated_normal"},
    {Init::Kind::constant, "constant"}};

Init usual_init(const ir::Shape& shape) {
    return shape.rank() < 2 ? Init::zeros() : Init::fan_in(shape.elements() / shape.back());
}

Init init_of(const ir::WrittenPort& port) {
    const auto* name = std::get_if<std::string>(port.attributes.find("init"));
    const auto found = std::find_if(std::begin(kInits), std::end(kInits), [&](const auto& entry) {
        return name != nullptr && entry.second == *name;
    });
    if (found == std::end(kInits)) {
        fail(port.value.place, "init is none that there is",
             "one of \"zeros\", \"ones\", \"normal\", \"uniform\", \"truncated_normal\", "
             "\"constant\"");
    }
    Init out{found->first, 0.0};
    const ir::Attribute* scale = port.attributes.find("scale");
    if (out.kind == Init::Kind::zeros || out.kind == Init::Kind::ones) {
        return scale == nullptr ? out
                                : (fail(port.value.place, "zeros and ones take no scale"), out);
    }
    if (const auto* real = scale == nullptr ? nullptr : std::get_if<double>(scale)) {
        out.scale = *real;
    } else if (const auto* whole = scale == nullptr ? nullptr : std::get_if<std::int64_t>(scale)) {
        out.scale = static_cast<double>(*whole);
    } else {
        fail(port.value.place, "init \"" + *name + "\" needs a scale",
             "scale=0.02: the standard deviation of normal values, the bound of uniform ones, a "
             "constant itself");
    }
    return out;
}

void check_state(const ir::WrittenPort& port, std::set<std::string>& names) {
    const ir::TextPlace place = port.value.place;
    if (port.name.empty() || !names.insert(port.name).second) {
        fail(place, port.name.empty() ? "a weight needs a name"
                                      : "there are two weights \"" + port.name + "\"");
    }
    if (!port.value.type || port.value.type->dtype != ir::DType::f32) {
        fail(place, "a weight needs a type of f32", "as in \": f32[784,10]\"");
    }
    if (port.value.type->shape.elements() == 0) {
        fail(place, "a weight needs elements");
    }
    for (const auto& [name, value] : port.attributes) {
        if (name != "init" && name != "scale" && name != "axes" && name != "trained") {
            fail(place, "a weight has no attribute '" + name + "'",
                 "one of init, scale, axes, trained");
        }
    }
    start_of(port);
}

void check_arguments(const ir::ModelText& text) {
    std::set<std::string> names;
    int inputs = 0;
    for (const ir::WrittenPort& port : text.arguments) {
        const ir::TextPlace place = port.value.place;
        if (port.role == Role::state) {
            check_state(port, names);
        } else if (port.attributes.size() != 0) {
            fail(place, "only weights have attributes");
        } else if (port.role == Role::batch && port.name == "inputs") {
            ++inputs;
        } else if (port.role != Role::scalar || port.name != "random") {
            fail(place,
                 "a model has no argument " + std::string(ir::role_name(port.role)) + " \"" +
                     port.name + "\"",
                 "batch \"inputs\", state \"<name of a weight>\" or scalar \"random\"");
        }
    }
    if (inputs != 1) {
        fail({}, "a model has one line of 'in %0 batch \"inputs\"', but here are " +
                     std::to_string(inputs));
    }
}

/// Running statistics are what a batch_norm keeps, and nothing else.
void check_statistics(const ir::ModelText& text) {
    std::set<std::int32_t> statistics;
    for (const ir::WrittenPort& port : text.arguments) {
        if (port.role == Role::state && !start_of(port).trained) {
            statistics.insert(port.value.number);
        }
    }
    for (const ir::WrittenOp& op : text.ops) {
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            const bool kept = keeps_statistics(op) && i >= 3;
            if (statistics.contains(op.inputs[i].number) != kept) {
                fail(op.inputs[i].place,
                     kept ? "a running statistic is a state with trained=false"
                          : "only a batch_norm reads a state with trained=false",
                     "as in %9 = batch_norm(%4, %5, %6, %7, %8) {eps=1e-5, momentum=0.1}: scale, "
                     "shift, mean and variance of %4, the last two with trained=false");
            }
        }
    }
}

/// What others make of a model: loops, groups, parts on a mesh, caches of a model that writes.
constexpr std::string_view kNotWritten[] = {"repeat",     "fused", "sweep", "mesh_index",
                                            "pick",       "mask",  "copy",  "attention_cached",
                                            "cache_write"};

std::vector<std::string> usable_ops() {
    std::vector<std::string> out;
    for (const ops::OpDef* def : ops::all_ops()) {
        const bool written = std::find(std::begin(kNotWritten), std::end(kNotWritten), def->name) ==
                             std::end(kNotWritten);
        const bool chance = def->random && !random_operand(def->name, {});
        if (written && !chance && !def->collective && !def->name.ends_with("_grad")) {
            out.emplace_back(def->name);
        }
    }
    return out;
}

void check_ops(const ir::ModelText& text) {
    const std::vector<std::string> usable = usable_ops();
    std::set<std::int32_t> random;
    for (const ir::WrittenPort& port : text.arguments) {
        if (port.role == Role::scalar) {
            random.insert(port.value.number);
        }
    }
    for (const ir::WrittenOp& op : text.ops) {
        if (std::find(usable.begin(), usable.end(), op.kind) == usable.end()) {
            fail(op.place,
                 ops::find_op(op.kind) == nullptr ? "there is no op '" + op.kind + "'"
                                                  : "a model text cannot use '" + op.kind + "'",
                 name_hint(op.kind, usable));
        }
        if (op.kind == "dropout" &&
            (op.inputs.size() != 2 || !random.contains(op.inputs[1].number))) {
            fail(op.place, "dropout takes a value and the argument scalar \"random\"",
                 "as in %5 = dropout(%4, %1) {rate=0.1, stream=\"layers.0\"}");
        }
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            if (random.contains(op.inputs[i].number) &&
                random_operand(op.kind, op.attributes) != i) {
                fail(op.inputs[i].place,
                     "only what drops values may read \"random\" here: there is "
                     "none when a model is evaluated",
                     "dropout reads it second, attention fourth, or fifth behind positions");
            }
        }
    }
}

void check_results(const ir::ModelText& text) {
    if (text.results.size() != 1 || text.results[0].role != Role::output ||
        text.results[0].name != "prediction") {
        fail(text.results.empty() ? ir::TextPlace{} : text.results[0].value.place,
             "a model gives one result", "out %9 output \"prediction\"");
    }
    std::set<std::int32_t> used;
    for (const ir::WrittenOp& op : text.ops) {
        for (const ir::WrittenValue& input : op.inputs) {
            used.insert(input.number);
        }
    }
    for (const ir::WrittenPort& port : text.arguments) {
        if (port.role == Role::state && !used.contains(port.value.number)) {
            fail(port.value.place, "nothing reads the weight \"" + port.name + "\"",
                 "Use it in an op, or take its line out.");
        }
    }
}

} // namespace

std::optional<std::size_t> random_operand(std::string_view op, const ir::Attributes& attributes) {
    return op == "dropout" ? std::optional<std::size_t>(1)
           : op == "attention"
               ? std::optional<std::size_t>(attributes.flag("packed", false) ? 4 : 3)
               : std::nullopt;
}

bool keeps_statistics(const ir::WrittenOp& op) {
    return op.kind == "batch_norm" && op.inputs.size() == 5;
}

StateStart start_of(const ir::WrittenPort& port) {
    const ir::Shape& shape = port.value.type->shape;
    const auto rank = static_cast<std::size_t>(shape.rank());
    const bool given = port.attributes.has("init");
    if (!given && port.attributes.has("scale")) {
        fail(port.value.place, "scale needs an init", "init=\"normal\" or init=\"uniform\"");
    }
    StateStart out{given ? init_of(port) : usual_init(shape), std::vector<std::string>(rank)};
    if (const ir::Attribute* trained = port.attributes.find("trained")) {
        const auto* flag = std::get_if<bool>(trained);
        out.trained =
            flag == nullptr ? (fail(port.value.place, "trained is true or false"), true) : *flag;
    }
    if (const ir::Attribute* axes = port.attributes.find("axes")) {
        const auto* names = std::get_if<std::string>(axes);
        out.axes = names == nullptr ? std::vector<std::string>{} : split(*names, ' ');
        if (out.axes.size() != rank) {
            fail(port.value.place, "axes names one logical axis per dimension",
                 "as in axes=\"embed mlp\"; - for none");
        }
        std::replace(out.axes.begin(), out.axes.end(), std::string("-"), std::string());
    }
    return out;
}

void check_model_text(const ir::ModelText& text) {
    check_arguments(text);
    check_ops(text);
    check_statistics(text);
    check_results(text);
}

} // namespace weft::nn
