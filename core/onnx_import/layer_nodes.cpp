// SPDX-License-Identifier: Apache-2.0
// Nodes that layers are made of: products, convolutions, pooling, norms. Our pictures have channels
// last, theirs first.
#include "core/onnx_import/importer.h"

#include "core/base/text.h"

#include <algorithm>
#include <numeric>

namespace weft::onnx_import {
namespace {

constexpr std::int64_t kMostGroups = 64;
constexpr std::int64_t kWidestKernel = 128; // of dilated ones
constexpr std::int64_t kLargestWindow = 65536;

ir::ValueId scaled(Importer& m, ir::ValueId x, double by) {
    return by == 1 ? x : ops::affine(m.builder(), x, by);
}

/// The product of two values, transposed where they are kept the other way round.
ir::ValueId product(Importer& m, Imported x, Imported y) {
    const auto bare = [&](Imported& value) {
        const bool swapped = value.swapped && !value.channels_last;
        value.swapped = value.swapped && !swapped;
        const double factor = std::exchange(value.factor, 1.0);
        const ir::ValueId id = m.plain(value);
        return std::tuple{id, swapped, factor};
    };
    const auto [a, turn_a, factor_a] = bare(x);
    const auto [b, turn_b, factor_b] = bare(y);
    return scaled(m, ops::matmul(m.builder(), a, b, turn_a, turn_b), factor_a * factor_b);
}

/// With the leading extents that the product has.
Imported spread(Importer& m, const Imported& x, const Extents& batch) {
    Extents shape = m.shape(x);
    const Extents wanted = [&] {
        Extents out = batch;
        out.insert(out.end(), shape.end() - 2, shape.end());
        return out;
    }();
    return shape == wanted
               ? x
               : Imported{.id = m.builder().emit("broadcast", {m.plain(x)}, {{"shape", wanted}})};
}

void matmul(Importer& m) {
    const Extents a = m.shape(0);
    const Extents b = m.shape(1);
    if (a.size() < 2 || b.size() < 2) {
        throw Unsupported{"it multiplies a vector"};
    }
    if (b.size() == 2) {
        m.out(product(m, m.in(0), m.in(1)));
        return;
    }
    const Extents batch = broadcast_extents({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
    m.out(product(m, spread(m, m.in(0), batch), spread(m, m.in(1), batch)));
}

Imported turned(Imported x, bool turn) {
    x.swapped = x.swapped != turn;
    return x;
}

void gemm(Importer& m) {
    if (m.shape(0).size() != 2 || m.shape(1).size() != 2) {
        throw Unsupported{"its operands are no matrices"};
    }
    const ir::ValueId out =
        scaled(m,
               product(m, turned(m.in(0), integer_of(m.node(), "transA", 0) != 0),
                       turned(m.in(1), integer_of(m.node(), "transB", 0) != 0)),
               real_of(m.node(), "alpha", 1));
    m.out(m.has(2) ? ops::add(m.builder(), out, scaled(m, m.plain(2), real_of(m.node(), "beta", 1)))
                   : out);
}

// --- windows -----------------------------------------------------------------------------------

struct Window {
    Extents kernel, stride, padding, dilation; // padding: top, left, bottom, right
};

Window window_of(Importer& m, const Extents& kernel) {
    const auto counted = [](std::int64_t x) { return x >= 0 && x <= kLargestWindow; };
    const auto list = [&](const char* name, Extents otherwise) {
        Extents out = integers_of(m.node(), name, nullptr).value_or(otherwise);
        if (out.size() != otherwise.size() || !std::all_of(out.begin(), out.end(), counted)) {
            throw Unsupported{std::string("its ") + name +
                              " are none of a window in two dimensions"};
        }
        return out;
    };
    if (m.shape(0).size() != 4 || kernel.size() != 2) {
        throw Unsupported{"only pictures [N, C, H, W] are filtered here"};
    }
    if (!std::all_of(kernel.begin(), kernel.end(), counted)) {
        throw Unsupported{"its kernel has an extent outside of 0 to " +
                          format_thousands(kLargestWindow)};
    }
    Window out{kernel, list("strides", {1, 1}), list("pads", {0, 0, 0, 0}),
               list("dilations", {1, 1})};
    const auto automatic = m.node().attributes.find("auto_pad");
    const std::string mode =
        automatic == m.node().attributes.end() ? "NOTSET" : automatic->second.text;
    if (mode.starts_with("SAME")) { // as many results as strides fit
        for (std::size_t i = 0; i < 2; ++i) {
            const std::int64_t extent = m.shape(0)[i + 2];
            const std::int64_t step = std::max<std::int64_t>(1, out.stride[i]);
            const std::int64_t covered =
                ((extent + step - 1) / step - 1) * step + (kernel[i] - 1) * out.dilation[i] + 1;
            const std::int64_t missing = std::max<std::int64_t>(0, covered - extent);
            out.padding[i] = mode == "SAME_LOWER" ? missing - missing / 2 : missing / 2;
            out.padding[i + 2] = missing - out.padding[i];
        }
    }
    return out;
}

/// A kernel [kh, kw, in, out] with zeros between its elements.
ir::ValueId dilated(Importer& m, ir::ValueId weight, const Extents& dilation) {
    if (dilation == Extents{1, 1}) {
        return weight;
    }
    ops::Builder& b = m.builder();
    const ir::Shape k = b.shape(weight);
    const std::int64_t height = (k[0] - 1) * dilation[0] + 1;
    const std::int64_t width = (k[1] - 1) * dilation[1] + 1;
    const auto by = [](std::int64_t h, std::int64_t w) {
        return std::to_string(h) + " x " + std::to_string(w);
    };
    if (height > kWidestKernel || width > kWidestKernel) {
        throw Unsupported{"its dilations spread its kernel over " + by(height, width) +
                          "; here such a kernel is kept with the zeros between its elements, up "
                          "to " +
                          by(kWidestKernel, kWidestKernel)};
    }
    if (height * width > 4 * k[0] * k[1]) {
        m.warn("takes the memory and time of a kernel of " + by(height, width) +
               ": its dilated kernel of " + by(k[0], k[1]) + " is kept with its zeros");
    }
    const std::int64_t down = dilation[0];
    const std::int64_t across = dilation[1];
    const ir::ValueId apart = ops::reshape(b, weight, {k[0], 1, k[1], 1, k[2], k[3]});
    const ir::ValueId padded = b.emit("pad", {apart},
                                      {{"low", Extents{0, 0, 0, 0, 0, 0}},
                                       {"high", Extents{0, down - 1, 0, across - 1, 0, 0}},
                                       {"value", 0.0}});
    const ir::ValueId whole = ops::reshape(b, padded, {k[0] * down, k[1] * across, k[2], k[3]});
    return ops::slice(b, whole, {0, 0, 0, 0}, {height, width, k[2], k[3]});
}

void conv(Importer& m) {
    const Extents weight = m.shape(1);
    if (weight.size() != 4) {
        throw Unsupported{"only pictures [N, C, H, W] are filtered here"};
    }
    ops::Builder& b = m.builder();
    const Window window = window_of(m, {weight[2], weight[3]});
    const std::int64_t groups = integer_of(m.node(), "group", 1);
    if (groups < 1 || groups > kMostGroups || weight[0] % groups != 0 ||
        m.shape(0)[1] != weight[1] * groups) {
        throw Unsupported{groups > kMostGroups ? "it has more than 64 groups of channels"
                                               : "its groups do not divide its channels"};
    }
    if (std::any_of(window.dilation.begin(), window.dilation.end(), [](auto d) { return d < 1; })) {
        throw Unsupported{"its dilations are none"};
    }
    const ir::ValueId x = m.last(m.in(0));
    const ir::ValueId kernel =
        dilated(m, ops::transpose(b, m.plain(1), {2, 3, 1, 0}), window.dilation);
    const ir::Attributes attributes{{"stride", window.stride}, {"padding", window.padding}};
    ir::ValueIds parts;
    for (std::int64_t group = 0; group < groups; ++group) {
        const auto channels = [&](ir::ValueId value, std::int64_t count) {
            if (groups == 1) {
                return value;
            }
            const ir::Shape& s = b.shape(value);
            return ops::slice(b, value, {0, 0, 0, group * count}, {s[0], s[1], s[2], count});
        };
        parts.push_back(b.emit(
            "conv2d", {channels(x, weight[1]), channels(kernel, weight[0] / groups)}, attributes));
    }
    ir::ValueId out = groups == 1 ? parts[0] : b.emit("concat", parts, {{"dim", std::int64_t{3}}});
    if (m.has(2)) {
        out = ops::add(b, out, m.plain(2));
    }
    m.out_last(out);
}

template <const char* op>
void pool(Importer& m) {
    const Extents kernel = integers_of(m.node(), "kernel_shape", nullptr).value_or(Extents{});
    const Window window = window_of(m, kernel);
    if (window.dilation != Extents{1, 1}) {
        throw Unsupported{"its window has gaps"};
    }
    for (std::size_t i = 0; i < 2; ++i) {
        const std::int64_t room =
            m.shape(0)[i + 2] + window.padding[i] + window.padding[i + 2] - kernel[i];
        if (integer_of(m.node(), "ceil_mode", 0) != 0 && window.stride[i] > 0 &&
            room % window.stride[i] != 0) {
            throw Unsupported{"its last window reaches beyond the picture (ceil_mode)"};
        }
    }
    if (m.node().outputs.size() > 1 && !m.node().outputs[1].empty()) {
        throw Unsupported{"it gives the places of the maxima"};
    }
    ir::Attributes attributes{
        {"window", window.kernel}, {"stride", window.stride}, {"padding", window.padding}};
    if (std::string_view(op) == "avg_pool") {
        attributes.set("exclude_padding", integer_of(m.node(), "count_include_pad", 0) == 0);
    }
    m.out_last(m.builder().emit(op, {m.last(m.in(0))}, attributes));
}
constexpr char kMaxPool[] = "max_pool", kAvgPool[] = "avg_pool";

void global_average_pool(Importer& m) {
    if (m.shape(0).size() != 4) {
        throw Unsupported{"only pictures [N, C, H, W] are filtered here"};
    }
    m.out_last(ops::reduce_mean(m.builder(), m.last(m.in(0)), {1, 2}, true));
}

// --- norms -------------------------------------------------------------------------------------

void batch_norm(Importer& m) {
    const std::size_t rank = m.shape(0).size();
    if (rank != 2 && rank != 4) {
        throw Unsupported{"only rows [N, C] and pictures [N, C, H, W] are normalised here"};
    }
    for (std::size_t i = 1; i <= 4; ++i) {
        if (m.shape(i) == Extents{1}) {
            throw Unsupported{"it has one channel: tensors of one element are not trained here"};
        }
        if (m.in(i).constant || m.shape(i).size() != 1) {
            throw Unsupported{"its scale, shift, mean and variance are not tensors of the file"};
        }
    }
    const double eps = real_of(m.node(), "epsilon", 1e-5);
    const double momentum = real_of(m.node(), "momentum", 0.9);
    if (!(eps > 0 && momentum >= 0 && momentum <= 1)) {
        throw Unsupported{"it needs an epsilon above 0 and a momentum from 0 to 1"};
    }
    const ir::ValueId x = rank == 4 ? m.last(m.in(0)) : m.plain(0);
    const ir::ValueId out =
        m.builder().emit("batch_norm_inference",
                         {x, m.plain(1), m.plain(2), m.plain(3), m.plain(4)}, {{"eps", eps}});
    m.follow_batches(out, 1 - momentum);
    m.out({.id = out, .channels_last = rank == 4});
}

void layer_norm(Importer& m) {
    const Extents shape = m.shape(0);
    if (m.axis("axis", -1, shape.size()) + 1 != static_cast<std::int64_t>(shape.size()) ||
        m.shape(1) != Extents{shape.back()}) {
        throw Unsupported{"it normalises over more than the last dimension"};
    }
    const ir::ValueId x = m.plain(0);
    const ir::ValueId shift =
        m.has(2) ? m.plain(2) : ops::constant(m.builder(), 0.0, {shape.back()});
    m.out(m.builder().emit("layer_norm", {x, m.plain(1), shift},
                           {{"eps", real_of(m.node(), "epsilon", 1e-5)}}));
}

/// Over the elements of each sample and channel: GroupNorm of PyTorch's is this on its groups.
void instance_norm(Importer& m) {
    ops::Builder& b = m.builder();
    const Extents shape = m.shape(0);
    Extents dims(shape.size() < 3 ? 0 : shape.size() - 2);
    if (dims.empty()) {
        throw Unsupported{"its input has no elements beside samples and channels"};
    }
    std::iota(dims.begin(), dims.end(), 2);
    const ir::ValueId x = m.plain(0);
    const ir::ValueId centred = ops::sub(b, x, ops::reduce_mean(b, x, dims, true));
    const ir::ValueId variance = ops::reduce_mean(b, b.emit("square", {centred}), dims, true);
    const ir::ValueId root =
        b.emit("rsqrt", {ops::affine(b, variance, 1.0, real_of(m.node(), "epsilon", 1e-5))});
    Extents column(shape.size() - 1, 1);
    column[0] = shape[1];
    const auto per_channel = [&](std::size_t i) {
        return b.emit("reshape", {m.plain(i)}, {{"shape", column}});
    };
    m.out(ops::add(b, ops::mul(b, ops::mul(b, centred, root), per_channel(1)), per_channel(2)));
}

/// Applies to the last dimension, whichever axis is meant.
template <class Work>
void along_axis(Importer& m, const Work& work) {
    const std::size_t rank = m.shape(0).size();
    const std::int64_t axis = m.axis("axis", -1, rank);
    const ir::ValueId x = m.plain(0);
    if (axis + 1 == static_cast<std::int64_t>(rank)) {
        m.out(work(x));
        return;
    }
    Extents order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[static_cast<std::size_t>(axis)], order.back());
    m.out(ops::transpose(m.builder(), work(ops::transpose(m.builder(), x, order)), order));
}

void softmax(Importer& m) {
    along_axis(m, [&](ir::ValueId x) { return m.builder().emit("softmax", {x}); });
}

void log_softmax(Importer& m) {
    along_axis(m, [&](ir::ValueId x) {
        ops::Builder& b = m.builder();
        const Extents dims{b.shape(x).rank() - 1};
        const ir::ValueId most = b.emit("reduce_max", {x}, {{"dims", dims}, {"keep", true}});
        const ir::ValueId below = ops::sub(b, x, most);
        const ir::ValueId sum = ops::reduce_sum(b, b.emit("exp", {below}), dims, true);
        return ops::sub(b, below, b.emit("log", {sum}));
    });
}

} // namespace

const std::map<std::string_view, NodeTranslation>& layer_nodes() {
    static const std::map<std::string_view, NodeTranslation> kTranslations = {
        {"AveragePool", pool<kAvgPool>},
        {"BatchNormalization", batch_norm},
        {"Conv", conv},
        {"Gemm", gemm},
        {"GlobalAveragePool", global_average_pool},
        {"InstanceNormalization", instance_norm},
        {"LayerNormalization", layer_norm},
        {"LogSoftmax", log_softmax},
        {"MatMul", matmul},
        {"MaxPool", pool<kMaxPool>},
        {"Softmax", softmax},
    };
    return kTranslations;
}

} // namespace weft::onnx_import
