// SPDX-License-Identifier: Apache-2.0
// Layer norm (Ba, Kiros, Hinton 2016), RMS norm (Zhang, Sennrich 2019) and batch norm (Ioffe,
// Szegedy 2015) with their gradients.
#include "kernels/reference/reference_list.h"

#include <cmath>

namespace weft::kernels::reference {
namespace {

void check_row_statistics(const Type& x, const Type& statistics) {
    require(x.rank >= 1 && element_count(statistics) == row_count(x),
            "row statistics are not [...]");
}

void check_channels(const Type& x, const Type& channels) {
    require(x.rank >= 1 && element_count(channels) == last_dim(x), "a channel vector is not [C]");
}

} // namespace

Body make_layer_norm(const Op& op) {
    const Type& x_type = op.input(0);
    check_channels(x_type, op.input(1));
    check_channels(x_type, op.input(2));
    require(same_shape(x_type, op.output(0)), "layer_norm keeps the shape");
    check_row_statistics(x_type, op.output(1));
    check_row_statistics(x_type, op.output(2));
    const std::int64_t rows = row_count(x_type);
    const std::int64_t width = last_dim(x_type);
    const double eps = op.real("eps");
    return [=](const Call& call) {
        for (std::int64_t r = 0; r < rows; ++r) {
            const double* x = call.in(0) + r * width;
            double mean = 0.0;
            double variance = 0.0;
            for (std::int64_t c = 0; c < width; ++c) {
                mean += x[c] / static_cast<double>(width);
            }
            for (std::int64_t c = 0; c < width; ++c) {
                variance += (x[c] - mean) * (x[c] - mean) / static_cast<double>(width);
            }
            const double rstd = 1.0 / std::sqrt(variance + eps);
            for (std::int64_t c = 0; c < width; ++c) {
                call.out(0)[r * width + c] = (x[c] - mean) * rstd * call.in(1)[c] + call.in(2)[c];
            }
            call.out(1)[r] = mean;
            call.out(2)[r] = rstd;
        }
        return WEFT_OK;
    };
}

Body make_layer_norm_input_grad(const Op& op) { // x, scale, mean, rstd, dy -> dx
    const Type& x_type = op.input(0);
    check_channels(x_type, op.input(1));
    check_row_statistics(x_type, op.input(2));
    check_row_statistics(x_type, op.input(3));
    require(same_shape(x_type, op.input(4)) && same_shape(x_type, op.output(0)),
            "x, dy and dx differ in shape");
    const std::int64_t rows = row_count(x_type);
    const std::int64_t width = last_dim(x_type);
    return [=](const Call& call) {
        const double* scale = call.in(1);
        for (std::int64_t r = 0; r < rows; ++r) {
            const double* x = call.in(0) + r * width;
            const double* dy = call.in(4) + r * width;
            const double mean = call.in(2)[r];
            const double rstd = call.in(3)[r];
            double sum = 0.0;
            double dot = 0.0;
            for (std::int64_t c = 0; c < width; ++c) {
                sum += dy[c] * scale[c] / static_cast<double>(width);
                dot += dy[c] * scale[c] * (x[c] - mean) * rstd / static_cast<double>(width);
            }
            for (std::int64_t c = 0; c < width; ++c) {
                call.out(0)[r * width + c] =
                    rstd * (dy[c] * scale[c] - sum - (x[c] - mean) * rstd * dot);
            }
        }
        return WEFT_OK;
    };
}

Body make_layer_norm_param_grad(const Op& op) { // x, mean, rstd, dy -> dscale, dshift
    const Type& x_type = op.input(0);
    check_row_statistics(x_type, op.input(1));
    check_row_statistics(x_type, op.input(2));
    require(same_shape(x_type, op.input(3)), "x and dy differ in shape");
    check_channels(x_type, op.output(0));
    check_channels(x_type, op.output(1));
    const std::int64_t rows = row_count(x_type);
    const std::int64_t width = last_dim(x_type);
    return [=](const Call& call) {
        for (std::int64_t c = 0; c < width; ++c) {
            double dscale = 0.0;
            double dshift = 0.0;
            for (std::int64_t r = 0; r < rows; ++r) {
                const double dy = call.in(3)[r * width + c];
                dscale += dy * (call.in(0)[r * width + c] - call.in(1)[r]) * call.in(2)[r];
                dshift += dy;
            }
            call.out(0)[c] = dscale;
            call.out(1)[c] = dshift;
        }
        return WEFT_OK;
    };
}

Body make_rms_norm(const Op& op) { // x, scale -> y, rstd
    const Type& x_type = op.input(0);
    check_channels(x_type, op.input(1));
    require(same_shape(x_type, op.output(0)), "rms_norm keeps the shape");
    check_row_statistics(x_type, op.output(1));
    const std::int64_t rows = row_count(x_type);
    const std::int64_t width = last_dim(x_type);
    const double eps = op.real("eps");
    return [=](const Call& call) {
        for (std::int64_t r = 0; r < rows; ++r) {
            const double* x = call.in(0) + r * width;
            double mean_square = 0.0;
            for (std::int64_t c = 0; c < width; ++c) {
                mean_square += x[c] * x[c] / static_cast<double>(width);
            }
            const double rstd = 1.0 / std::sqrt(mean_square + eps);
            for (std::int64_t c = 0; c < width; ++c) {
                call.out(0)[r * width + c] = x[c] * rstd * call.in(1)[c];
            }
            call.out(1)[r] = rstd;
        }
        return WEFT_OK;
    };
}

// x, scale, rstd, dy -> dx = rstd (g - u mean(g u)) with g = dy scale and u = x rstd.
Body make_rms_norm_input_grad(const Op& op) {
    const Type& x_type = op.input(0);
    check_channels(x_type, op.input(1));
    check_row_statistics(x_type, op.input(2));
    require(same_shape(x_type, op.input(3)) && same_shape(x_type, op.output(0)),
            "x, dy and dx differ in shape");
    const std::int64_t rows = row_count(x_type);
    const std::int64_t width = last_dim(x_type);
    return [=](const Call& call) {
        const double* scale = call.in(1);
        for (std::int64_t r = 0; r < rows; ++r) {
            const double* x = call.in(0) + r * width;
            const double* dy = call.in(3) + r * width;
            const double rstd = call.in(2)[r];
            double dot = 0.0;
            for (std::int64_t c = 0; c < width; ++c) {
                dot += dy[c] * scale[c] * x[c] * rstd / static_cast<double>(width);
            }
            for (std::int64_t c = 0; c < width; ++c) {
                call.out(0)[r * width + c] = rstd * (dy[c] * scale[c] - x[c] * rstd * dot);
            }
        }
        return WEFT_OK;
    };
}

Body make_rms_norm_param_grad(const Op& op) { // x, rstd, dy -> dscale
    const Type& x_type = op.input(0);
    check_row_statistics(x_type, op.input(1));
    require(same_shape(x_type, op.input(2)), "x and dy differ in shape");
    check_channels(x_type, op.output(0));
    const std::int64_t rows = row_count(x_type);
    const std::int64_t width = last_dim(x_type);
    return [=](const Call& call) {
        for (std::int64_t c = 0; c < width; ++c) {
            double dscale = 0.0;
            for (std::int64_t r = 0; r < rows; ++r) {
                dscale += call.in(2)[r * width + c] * call.in(0)[r * width + c] * call.in(1)[r];
            }
            call.out(0)[c] = dscale;
        }
        return WEFT_OK;
    };
}

// Batch norm sees x as [N, P, C]: P positions of each sample. A sample of weight 0 (padding of a
// short batch) does not count in the statistics.
namespace {

struct BatchShape {
    std::int64_t samples, positions, channels;
    bool weighted;
};

BatchShape batch_shape(const Op& op, int weights) {
    const Type& x = op.input(0);
    require(x.rank >= 2, "batch norm takes [N, ..., C]");
    const bool weighted = op.inputs() > weights;
    require(!weighted || element_count(op.input(weights)) == x.shape[0], "weights are not [N]");
    return {x.shape[0], x.shape[0] == 0 ? 0 : row_count(x) / x.shape[0], last_dim(x), weighted};
}

double total_weight(const BatchShape& s, const double* weights) {
    double total = 0.0;
    for (std::int64_t n = 0; n < s.samples; ++n) {
        total += (s.weighted ? weights[n] : 1.0) * static_cast<double>(s.positions);
    }
    return total;
}

} // namespace

Body make_batch_norm(const Op& op) { // x, scale, shift, weights? -> y, mean, variance (biased)
    const BatchShape s = batch_shape(op, 3);
    for (int i : {1, 2}) {
        check_channels(op.input(0), op.input(i));
        check_channels(op.input(0), op.output(i));
    }
    require(same_shape(op.input(0), op.output(0)), "batch_norm keeps the shape");
    const double eps = op.real("eps");
    return [=](const Call& call) {
        const double* x = call.in(0);
        const double* weights = s.weighted ? call.in(3) : nullptr;
        const double total = total_weight(s, weights);
        const double share = total > 0.0 ? 1.0 / total : 0.0;
        for (std::int64_t c = 0; c < s.channels; ++c) {
            double mean = 0.0;
            double variance = 0.0;
            for (std::int64_t i = 0; i < s.samples * s.positions; ++i) {
                mean += (weights ? weights[i / s.positions] : 1.0) * share * x[i * s.channels + c];
            }
            for (std::int64_t i = 0; i < s.samples * s.positions; ++i) {
                const double d = x[i * s.channels + c] - mean;
                variance += (weights ? weights[i / s.positions] : 1.0) * share * d * d;
            }
            for (std::int64_t i = 0; i < s.samples * s.positions; ++i) {
                call.out(0)[i * s.channels + c] =
                    (x[i * s.channels + c] - mean) / std::sqrt(variance + eps) * call.in(1)[c] +
                    call.in(2)[c];
            }
            call.out(1)[c] = mean;
            call.out(2)[c] = variance;
        }
        return WEFT_OK;
    };
}

// x, scale, mean, variance, dy, weights? -> dx, dscale, dshift. With u = (x - mean) rstd and w the
// sample's weight over the total: dx = scale rstd (dy - w (sum(dy) + u sum(dy u))).
Body make_batch_norm_grad(const Op& op) {
    const BatchShape s = batch_shape(op, 5);
    for (int i : {1, 2, 3}) {
        check_channels(op.input(0), op.input(i));
    }
    check_channels(op.input(0), op.output(1));
    check_channels(op.input(0), op.output(2));
    require(same_shape(op.input(0), op.input(4)) && same_shape(op.input(0), op.output(0)),
            "x, dy and dx differ in shape");
    const double eps = op.real("eps");
    return [=](const Call& call) {
        const double* x = call.in(0);
        const double* dy = call.in(4);
        const double* weights = s.weighted ? call.in(5) : nullptr;
        const double total = total_weight(s, weights);
        const double share = total > 0.0 ? 1.0 / total : 0.0;
        for (std::int64_t c = 0; c < s.channels; ++c) {
            const double mean = call.in(2)[c];
            const double rstd = 1.0 / std::sqrt(call.in(3)[c] + eps);
            double sum = 0.0;
            double dot = 0.0;
            for (std::int64_t i = 0; i < s.samples * s.positions; ++i) {
                sum += dy[i * s.channels + c];
                dot += dy[i * s.channels + c] * (x[i * s.channels + c] - mean) * rstd;
            }
            for (std::int64_t i = 0; i < s.samples * s.positions; ++i) {
                const double w = (weights ? weights[i / s.positions] : 1.0) * share;
                const double u = (x[i * s.channels + c] - mean) * rstd;
                call.out(0)[i * s.channels + c] =
                    call.in(1)[c] * rstd * (dy[i * s.channels + c] - w * (sum + u * dot));
            }
            call.out(1)[c] = dot;
            call.out(2)[c] = sum;
        }
        return WEFT_OK;
    };
}

Body make_batch_norm_inference(const Op& op) { // x, scale, shift, mean, variance -> y
    for (int i = 1; i < 5; ++i) {
        check_channels(op.input(0), op.input(i));
    }
    require(same_shape(op.input(0), op.output(0)), "batch_norm_inference keeps the shape");
    const double eps = op.real("eps");
    const std::int64_t channels = last_dim(op.input(0));
    const std::int64_t count = element_count(op.input(0));
    return [=](const Call& call) {
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t c = i % channels;
            call.out(0)[i] =
                (call.in(0)[i] - call.in(3)[c]) / std::sqrt(call.in(4)[c] + eps) * call.in(1)[c] +
                call.in(2)[c];
        }
        return WEFT_OK;
    };
}

} // namespace weft::kernels::reference
