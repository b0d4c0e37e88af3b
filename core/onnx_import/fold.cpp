// SPDX-License-Identifier: Apache-2.0
#include "core/onnx_import/fold.h"

#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace weft::onnx_import {
namespace {

using Extents = std::vector<std::int64_t>;
using Inputs = std::vector<const Constant*>;

constexpr std::int64_t kMostElements = 1 << 24; // a mask of 4,096 positions
constexpr std::int64_t kBool = 9;
constexpr std::int64_t kInt64 = 7;

bool whole_type(std::int64_t element) {
    return element != 1 && element != 10 && element != 11 && element != 16;
}

const Constant& needed(const Inputs& inputs, std::size_t i) {
    if (i >= inputs.size() || inputs[i] == nullptr) {
        throw Unsupported{"it lacks an input"};
    }
    return *inputs[i];
}

Extents strides_of(const Extents& shape) {
    Extents out(shape.size(), 1);
    for (std::size_t i = shape.size(); i-- > 1;) {
        out[i - 1] = ir::capped_product(out[i], shape[i]);
    }
    return out;
}

/// out[index] = x[sum of index[d] * step[d] + start].
Constant gathered(const Constant& x, Extents shape, const Extents& step, std::int64_t start = 0) {
    Constant out{x.element, std::move(shape), {}};
    out.values.resize(constant_elements(out.shape));
    Extents index(out.shape.size(), 0);
    std::int64_t at = start;
    for (double& value : out.values) {
        value = x.values.at(static_cast<std::size_t>(at));
        for (std::size_t d = index.size(); d-- > 0;) {
            at += step[d];
            if (++index[d] < out.shape[d]) {
                break;
            }
            at -= step[d] * out.shape[d];
            index[d] = 0;
        }
    }
    return out;
}

using Pair = std::function<double(double, double)>;

Constant paired(const Constant& a, const Constant& b, const Pair& apply, bool truth) {
    const Extents shape = broadcast_extents(a.shape, b.shape);
    const Constant x = broadcast_to(a, shape);
    const Constant y = broadcast_to(b, shape);
    Constant out{truth ? kBool : a.element, shape, x.values};
    std::transform(x.values.begin(), x.values.end(), y.values.begin(), out.values.begin(), apply);
    return out;
}

std::optional<Pair> pair_of(const StoredNode& node, bool whole) {
    const bool as_c = integer_of(node, "fmod", 0) != 0;
    const auto divided = [whole](double a, double b) {
        return whole ? (b == 0 ? throw Unsupported{"it divides by zero"} : std::trunc(a / b))
                     : a / b;
    };
    const std::pair<const char*, Pair> kPairs[] = {
        {"Add", [](double a, double b) { return a + b; }},
        {"Sub", [](double a, double b) { return a - b; }},
        {"Mul", [](double a, double b) { return a * b; }},
        {"Div", divided},
        {"Mod",
         [as_c](double a, double b) { // the sign of a, or of b
             return b == 0 ? throw Unsupported{"it divides by zero"}
                    : as_c ? std::fmod(a, b)
                           : a - b * std::floor(a / b);
         }},
        {"Pow", [](double a, double b) { return std::pow(a, b); }},
        {"Max", [](double a, double b) { return std::max(a, b); }},
        {"Min", [](double a, double b) { return std::min(a, b); }},
    };
    for (const auto& [name, apply] : kPairs) {
        if (node.op == name) {
            return apply;
        }
    }
    return std::nullopt;
}

std::optional<Pair> comparison_of(const std::string& op) {
    const std::pair<const char*, Pair> kComparisons[] = {
        {"Equal", [](double a, double b) { return a == b ? 1.0 : 0.0; }},
        {"Less", [](double a, double b) { return a < b ? 1.0 : 0.0; }},
        {"LessOrEqual", [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
        {"Greater", [](double a, double b) { return a > b ? 1.0 : 0.0; }},
        {"GreaterOrEqual", [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
        {"And", [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
        {"Or", [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
    };
    for (const auto& [name, apply] : kComparisons) {
        if (op == name) {
            return apply;
        }
    }
    return std::nullopt;
}

using One = double (*)(double);
std::optional<One> function_of(const std::string& op) {
    constexpr std::pair<const char*, One> kFunctions[] = {
        {"Sqrt", [](double x) { return std::sqrt(x); }},
        {"Neg", [](double x) { return -x; }},
        {"Abs", [](double x) { return std::abs(x); }},
        {"Exp", [](double x) { return std::exp(x); }},
        {"Log", [](double x) { return std::log(x); }},
        {"Floor", [](double x) { return std::floor(x); }},
        {"Ceil", [](double x) { return std::ceil(x); }},
        {"Sin", [](double x) { return std::sin(x); }},
        {"Cos", [](double x) { return std::cos(x); }},
        {"Reciprocal", [](double x) { return 1 / x; }},
        {"Not", [](double x) { return x == 0 ? 1.0 : 0.0; }},
        {"Identity", [](double x) { return x; }},
    };
    for (const auto& [name, apply] : kFunctions) {
        if (op == name) {
            return apply;
        }
    }
    return std::nullopt;
}

Constant cast_to(Constant x, std::int64_t element) {
    for (double& value : x.values) {
        value = element == kBool      ? (value != 0 ? 1 : 0)
                : whole_type(element) ? std::trunc(value)
                : element == 11       ? value
                                      : static_cast<double>(static_cast<float>(value));
    }
    x.element = element;
    return x;
}

Extents whole_list(const Constant& x) {
    Extents out;
    for (std::size_t i = 0; i < x.values.size(); ++i) {
        out.push_back(whole_at(x, i));
    }
    return out;
}

Constant fold_gather(const StoredNode& node, const Inputs& inputs) {
    const Constant& x = needed(inputs, 0);
    const Constant& indices = needed(inputs, 1);
    const auto axis =
        static_cast<std::size_t>(axis_of(integer_of(node, "axis", 0), x.shape.size()));
    Extents shape(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(axis));
    shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
    shape.insert(shape.end(), x.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
                 x.shape.end());
    const std::int64_t inner = strides_of(x.shape)[axis];
    const auto outer = static_cast<std::int64_t>(x.values.size()) /
                       std::max<std::int64_t>(1, inner * x.shape[axis]);
    Constant out{x.element, shape, {}};
    out.values.reserve(constant_elements(shape));
    for (std::int64_t i = 0; i < outer; ++i) {
        for (const std::int64_t index : whole_list(indices)) {
            const std::int64_t row = axis_of(index, static_cast<std::size_t>(x.shape[axis]));
            const auto first = x.values.begin() + (i * x.shape[axis] + row) * inner;
            out.values.insert(out.values.end(), first, first + inner);
        }
    }
    return out;
}

Constant fold_concat(const StoredNode& node, const Inputs& inputs) {
    const Constant& first = needed(inputs, 0);
    const auto axis =
        static_cast<std::size_t>(axis_of(integer_of(node, "axis", 0), first.shape.size()));
    Constant out{first.element, first.shape, {}};
    out.shape[axis] = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        Extents alike = needed(inputs, i).shape;
        if (alike.size() != first.shape.size()) {
            throw Unsupported{"its inputs differ in rank"};
        }
        out.shape[axis] += std::exchange(alike[axis], first.shape[axis]);
        if (alike != first.shape) {
            throw Unsupported{"its inputs do not continue each other"};
        }
    }
    out.values.reserve(constant_elements(out.shape));
    const std::int64_t inner = strides_of(out.shape)[axis];
    std::int64_t outer = 1;
    for (std::size_t i = 0; i < axis; ++i) {
        outer *= out.shape[i];
    }
    for (std::int64_t row = 0; row < outer; ++row) {
        for (const Constant* input : inputs) {
            const std::int64_t part = input->shape[axis] * inner;
            out.values.insert(out.values.end(), input->values.begin() + row * part,
                              input->values.begin() + (row + 1) * part);
        }
    }
    return out;
}

Constant fold_slice(const StoredNode&, const Inputs& inputs) {
    Constant out = needed(inputs, 0);
    const Constant& starts = needed(inputs, 1);
    const Constant& ends = needed(inputs, 2);
    for (std::size_t i = 0; i < starts.values.size(); ++i) {
        const bool axes = inputs.size() > 3 && inputs[3] != nullptr;
        const bool steps = inputs.size() > 4 && inputs[4] != nullptr;
        const auto axis = static_cast<std::size_t>(axis_of(
            axes ? whole_at(*inputs[3], i) : static_cast<std::int64_t>(i), out.shape.size()));
        const double step = steps ? number_at(*inputs[4], i) : 1;
        if (!(step >= 1 && step <= 0x1p31)) {
            throw Unsupported{"it steps backwards"};
        }
        const auto [from, to] = clamped(starts.values[i], number_at(ends, i), out.shape[axis]);
        Extents stride = strides_of(out.shape);
        const std::int64_t start = from * stride[axis];
        const auto by = static_cast<std::int64_t>(step);
        Extents shape = out.shape;
        shape[axis] = to > from ? (to - from + by - 1) / by : 0;
        stride[axis] *= by;
        out = gathered(out, shape, stride, start);
    }
    return out;
}

Constant fold_transpose(const StoredNode& node, const Constant& x) {
    Extents order(x.shape.size());
    std::iota(order.rbegin(), order.rend(), 0);
    order = integers_of(node, "perm", nullptr).value_or(order);
    if (sorted_axes(order, x.shape.size()).size() != x.shape.size()) {
        throw Unsupported{"its permutation is none"};
    }
    const Extents strides = strides_of(x.shape);
    Extents shape;
    Extents step;
    for (const std::int64_t from : order) {
        const auto at = static_cast<std::size_t>(axis_of(from, x.shape.size()));
        shape.push_back(x.shape[at]);
        step.push_back(strides[at]);
    }
    return gathered(x, shape, step);
}

Constant fold_range(const Inputs& inputs) {
    const double start = number_at(needed(inputs, 0));
    const double limit = number_at(needed(inputs, 1));
    const double step = number_at(needed(inputs, 2));
    const double count = step == 0 ? 0 : std::max(0.0, std::ceil((limit - start) / step));
    if (!(count <= static_cast<double>(kMostElements))) {
        throw Unsupported{"it makes too many numbers"};
    }
    Constant out{inputs[0]->element, {static_cast<std::int64_t>(count)}, {}};
    for (double i = 0; i < count; ++i) {
        out.values.push_back(start + i * step);
    }
    return out;
}

Constant fold_trilu(const StoredNode& node, const Inputs& inputs) {
    Constant out = needed(inputs, 0);
    if (out.shape.size() < 2) {
        throw Unsupported{"it needs two dimensions"};
    }
    const bool upper = integer_of(node, "upper", 1) != 0;
    const double k = inputs.size() > 1 && inputs[1] != nullptr ? number_at(*inputs[1]) : 0;
    const auto columns = static_cast<std::size_t>(out.shape.back());
    const auto rows = static_cast<std::size_t>(out.shape[out.shape.size() - 2]);
    for (std::size_t i = 0; i < out.values.size(); ++i) {
        const double diagonal =
            static_cast<double>(i % columns) - static_cast<double>(i / columns % rows) - k;
        if (upper ? diagonal < 0 : diagonal > 0) {
            out.values[i] = 0;
        }
    }
    return out;
}

/// Running sums along one axis.
Constant fold_cumsum(const StoredNode& node, const Inputs& inputs) {
    Constant out = needed(inputs, 0);
    if (integer_of(node, "exclusive", 0) != 0 || integer_of(node, "reverse", 0) != 0) {
        throw Unsupported{"it sums from the end, or without the element itself"};
    }
    const auto axis =
        static_cast<std::size_t>(axis_of(whole_at(needed(inputs, 1)), out.shape.size()));
    const auto stride = static_cast<std::size_t>(strides_of(out.shape)[axis]);
    const auto extent = static_cast<std::size_t>(out.shape[axis]);
    for (std::size_t i = stride; i < out.values.size(); ++i) {
        if (i / stride % extent != 0) {
            out.values[i] += out.values[i - stride];
        }
    }
    return out;
}

/// Parts of x at places [..., K] of its first K dimensions.
Constant fold_gather_nd(const StoredNode& node, const Inputs& inputs) {
    const Constant& x = needed(inputs, 0);
    const Constant& places = needed(inputs, 1);
    const std::int64_t depth = places.shape.empty() ? 0 : places.shape.back();
    if (integer_of(node, "batch_dims", 0) != 0 || depth < 1 ||
        depth > static_cast<std::int64_t>(x.shape.size())) {
        throw Unsupported{"its places are not of the first dimensions"};
    }
    Constant out{x.element, {places.shape.begin(), places.shape.end() - 1}, {}};
    out.shape.insert(out.shape.end(), x.shape.begin() + depth, x.shape.end());
    out.values.reserve(constant_elements(out.shape));
    const Extents strides = strides_of(x.shape);
    const std::int64_t part = strides[static_cast<std::size_t>(depth) - 1];
    const Extents all = whole_list(places);
    for (std::size_t i = 0; i < all.size(); i += static_cast<std::size_t>(depth)) {
        std::int64_t from = 0;
        for (std::size_t d = 0; d < static_cast<std::size_t>(depth); ++d) {
            from += axis_of(all[i + d], static_cast<std::size_t>(x.shape[d])) * strides[d];
        }
        const auto first = x.values.begin() + from;
        out.values.insert(out.values.end(), first, first + part);
    }
    return out;
}

Constant fold_where(const Inputs& inputs) {
    const Extents shape =
        broadcast_extents(needed(inputs, 0).shape,
                          broadcast_extents(needed(inputs, 1).shape, needed(inputs, 2).shape));
    const Constant condition = broadcast_to(*inputs[0], shape);
    Constant out = broadcast_to(*inputs[1], shape);
    const Constant otherwise = broadcast_to(*inputs[2], shape);
    for (std::size_t i = 0; i < out.values.size(); ++i) {
        out.values[i] = condition.values[i] != 0 ? out.values[i] : otherwise.values[i];
    }
    return out;
}

Constant fold_reduction(const StoredNode& node, const Inputs& inputs) {
    const Constant& x = needed(inputs, 0);
    const auto axes = integers_of(node, "axes", inputs.size() > 1 ? inputs[1] : nullptr);
    if ((!axes || axes->empty()) && integer_of(node, "noop_with_empty_axes", 0) != 0) {
        return x;
    }
    if (x.shape.size() > 1) {
        throw Unsupported{"it reduces a table of constants"};
    }
    const bool product = node.op == "ReduceProd";
    const bool most = node.op == "ReduceMax";
    double value = product ? 1 : most ? -std::numeric_limits<double>::infinity() : 0;
    for (const double one : x.values) {
        value = product ? value * one : most ? std::max(value, one) : value + one;
    }
    if (most && x.values.empty()) {
        throw Unsupported{"it asks for the largest of no numbers"};
    }
    const bool keep = integer_of(node, "keepdims", 1) != 0 && !x.shape.empty();
    return {x.element, keep ? Extents{1} : Extents{}, {value}};
}

Constant constant_of(const StoredModel& model, const StoredNode& node) {
    for (const auto& [name, attribute] : node.attributes) {
        if (attribute.tensor) {
            constant_elements(attribute.tensor->shape);
            return {attribute.tensor->element, attribute.tensor->shape,
                    tensor_numbers(model, *attribute.tensor)};
        }
        if (name == "value_int") {
            return {kInt64, {}, {static_cast<double>(attribute.integer)}};
        }
        if (name == "value_float") {
            return {1, {}, {attribute.real}};
        }
        if (name == "value_ints") {
            return {kInt64,
                    {static_cast<std::int64_t>(attribute.integers.size())},
                    {attribute.integers.begin(), attribute.integers.end()}};
        }
        if (name == "value_floats") {
            return {1,
                    {static_cast<std::int64_t>(attribute.reals.size())},
                    {attribute.reals.begin(), attribute.reals.end()}};
        }
    }
    throw Unsupported{"it holds no numbers"};
}

Constant fold_filled(const StoredModel& model, const StoredNode& node, const Constant& shape) {
    const auto value = node.attributes.find("value");
    Constant out{1, whole_list(shape), {0.0}};
    if (value != node.attributes.end() && value->second.tensor) {
        out.element = value->second.tensor->element;
        out.values = tensor_numbers(model, *value->second.tensor);
    }
    out.values.assign(constant_elements(out.shape), number_at(out));
    return out;
}

/// Squeeze and Unsqueeze: the same numbers under another shape.
Constant fold_squeezed(const StoredNode& node, const Inputs& inputs) {
    Constant out = needed(inputs, 0);
    const auto axes = integers_of(node, "axes", inputs.size() > 1 ? inputs[1] : nullptr);
    if (node.op == "Squeeze" && !axes) {
        std::erase(out.shape, 1);
        return out;
    }
    const std::size_t more = node.op == "Unsqueeze" && axes ? axes->size() : 0;
    const Extents sorted = sorted_axes(axes.value_or(Extents{}), out.shape.size() + more);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (node.op == "Unsqueeze") {
            out.shape.insert(out.shape.begin() + sorted[i], 1);
        } else {
            out.shape.erase(out.shape.begin() + sorted[sorted.size() - 1 - i]);
        }
    }
    constant_elements(out.shape);
    return out;
}

} // namespace

std::size_t constant_elements(const Extents& shape) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) {
        count = extent < 0 ? -1 : ir::capped_product(count, extent);
        if (count < 0 || count > kMostElements || shape.size() > ir::Shape::kMaxRank) {
            throw Unsupported{"it makes a constant of more than " +
                              format_thousands(kMostElements) + " numbers or 8 dimensions"};
        }
    }
    return static_cast<std::size_t>(count);
}

Extents broadcast_extents(const Extents& a, const Extents& b) {
    Extents out = a.size() > b.size() ? a : b;
    const Extents& shorter = a.size() > b.size() ? b : a;
    for (std::size_t i = 0; i < shorter.size(); ++i) {
        std::int64_t& extent = out[out.size() - 1 - i];
        const std::int64_t other = shorter[shorter.size() - 1 - i];
        if (extent != other && extent != 1 && other != 1) {
            throw Unsupported{"its inputs' shapes do not broadcast"};
        }
        extent = extent == 1 ? other : extent;
    }
    return out;
}

Constant broadcast_to(const Constant& x, const Extents& shape) {
    const Extents strides = strides_of(x.shape);
    Extents step(shape.size(), 0);
    for (std::size_t i = 0; i < x.shape.size(); ++i) {
        if (x.shape[x.shape.size() - 1 - i] != 1) {
            step[shape.size() - 1 - i] = strides[x.shape.size() - 1 - i];
        }
    }
    return gathered(x, shape, step);
}

std::int64_t axis_of(std::int64_t axis, std::size_t rank) {
    const auto count = static_cast<std::int64_t>(rank);
    if (axis < -count || axis >= count) {
        throw Unsupported{"its axis or index " + std::to_string(axis) + " is outside of " +
                          std::to_string(count)};
    }
    return axis < 0 ? axis + count : axis;
}

Extents sorted_axes(Extents axes, std::size_t rank) {
    for (std::int64_t& axis : axes) {
        axis = axis_of(axis, rank);
    }
    std::sort(axes.begin(), axes.end());
    if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
        throw Unsupported{"it names an axis twice"};
    }
    return axes;
}

double number_at(const Constant& x, std::size_t i) {
    if (i >= x.values.size()) {
        throw Unsupported{"one of its inputs holds too few numbers (" +
                          std::to_string(x.values.size()) + ")"};
    }
    return x.values[i];
}

std::int64_t whole_at(const Constant& x, std::size_t i) {
    const double value = number_at(x, i);
    if (!(std::abs(value) <= 0x1p53)) {
        throw Unsupported{"an extent or index is out of bounds"};
    }
    return static_cast<std::int64_t>(value);
}

Extents reshaped(const Extents& from, const Constant& to, bool zero_is_zero) {
    Extents out = whole_list(to);
    const auto product = [](const Extents& shape) {
        return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, ir::capped_product);
    };
    std::ptrdiff_t open = -1;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (out[i] == 0 && !zero_is_zero && i < from.size()) {
            out[i] = from[i];
        }
        if (out[i] < -1 || (out[i] == -1 && open >= 0)) {
            throw Unsupported{"its shape has negative extents"};
        }
        open = out[i] == -1 ? static_cast<std::ptrdiff_t>(i) : open;
    }
    if (open >= 0) {
        out[static_cast<std::size_t>(open)] = 1;
        out[static_cast<std::size_t>(open)] =
            product(from) / std::max<std::int64_t>(1, product(out));
    }
    if (product(out) != product(from) || out.size() > ir::Shape::kMaxRank) {
        throw Unsupported{"its shape has another number of elements"};
    }
    return out;
}

std::pair<std::int64_t, std::int64_t> clamped(double start, double end, std::int64_t extent) {
    const auto count = static_cast<double>(extent);
    const auto bound = [count](double at) {
        return static_cast<std::int64_t>(std::clamp(at < 0 ? at + count : at, 0.0, count));
    };
    return {bound(start), bound(end)};
}

std::int64_t integer_of(const StoredNode& node, const char* name, std::int64_t otherwise) {
    const auto found = node.attributes.find(name);
    return found == node.attributes.end() ? otherwise : found->second.integer;
}

double real_of(const StoredNode& node, const char* name, double otherwise) {
    const auto found = node.attributes.find(name);
    return found == node.attributes.end() ? otherwise : found->second.real;
}

std::optional<Extents> integers_of(const StoredNode& node, const char* name,
                                   const Constant* input) {
    if (input != nullptr) {
        return whole_list(*input);
    }
    const auto found = node.attributes.find(name);
    return found == node.attributes.end() ? std::nullopt : std::optional(found->second.integers);
}

std::optional<Constant> fold(const StoredModel& model, const StoredNode& node,
                             const Inputs& inputs) {
    const std::string& op = node.op;
    if (op == "Constant") {
        return constant_of(model, node);
    }
    if (op == "Where") {
        return fold_where(inputs);
    }
    if (op == "Range") {
        return fold_range(inputs);
    }
    if (inputs.empty() || inputs[0] == nullptr) {
        return std::nullopt;
    }
    const Constant& x = *inputs[0];
    if (const auto apply = pair_of(node, whole_type(x.element)); apply && inputs.size() == 2) {
        return cast_to(paired(x, needed(inputs, 1), *apply, false), x.element);
    }
    if (const auto apply = comparison_of(op)) {
        return paired(x, needed(inputs, 1), *apply, true);
    }
    if (const auto apply = function_of(op)) {
        Constant out = x;
        std::transform(x.values.begin(), x.values.end(), out.values.begin(), *apply);
        return out;
    }
    if (op == "Cast") {
        return cast_to(x, integer_of(node, "to", 1));
    }
    if (op == "CastLike") {
        return cast_to(x, needed(inputs, 1).element);
    }
    if (op == "Gather") {
        return fold_gather(node, inputs);
    }
    if (op == "GatherND") {
        return fold_gather_nd(node, inputs);
    }
    if (op == "CumSum") {
        return fold_cumsum(node, inputs);
    }
    if (op == "Concat") {
        return fold_concat(node, inputs);
    }
    if (op == "Slice") {
        return fold_slice(node, inputs);
    }
    if (op == "Transpose") {
        return fold_transpose(node, x);
    }
    if (op == "Trilu") {
        return fold_trilu(node, inputs);
    }
    if (op == "ConstantOfShape") {
        return fold_filled(model, node, x);
    }
    if (op == "Expand") {
        return broadcast_to(x, broadcast_extents(x.shape, whole_list(needed(inputs, 1))));
    }
    if (op == "Reshape") {
        return Constant{x.element,
                        reshaped(x.shape, needed(inputs, 1), integer_of(node, "allowzero", 0) != 0),
                        x.values};
    }
    if (op == "Squeeze" || op == "Unsqueeze") {
        return fold_squeezed(node, inputs);
    }
    if (op == "ReduceProd" || op == "ReduceSum" || op == "ReduceMax") {
        return fold_reduction(node, inputs);
    }
    return std::nullopt;
}

} // namespace weft::onnx_import
