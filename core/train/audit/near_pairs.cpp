// SPDX-License-Identifier: Apache-2.0
#include "core/train/audit/near_pairs.h"

#include "core/data/moments.h"
#include "core/exec/kernel_call.h"
#include "core/ops/builder.h"
#include "core/train/compute.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <utility>

namespace weft::train {
namespace {

using data::Moments;
using data::MomentsOf;

constexpr std::int64_t kProductRows = 1024; // rows of a product
constexpr std::int64_t kMostMove = 2;       // pixels
constexpr std::int64_t kOutlineFields = 8;  // of an image, each way
constexpr std::int64_t kOutlineStretches = 256;
constexpr std::align_val_t kAligned{64};

struct FreeAligned {
    void operator()(std::byte* bytes) const { ::operator delete(bytes, kAligned); }
};
using AlignedBytes = std::unique_ptr<std::byte, FreeAligned>;

AlignedBytes aligned_bytes(std::int64_t bytes) {
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
    return AlignedBytes(static_cast<std::byte*>(::operator new(size, kAligned)));
}

/// [kProductRows, width] times [kProductRows, width] turned, by the fastest kernel there is.
class BlockProduct {
public:
    explicit BlockProduct(std::int64_t width) {
        const ir::Type rows{ir::DType::f32, {kProductRows, width}};
        ir::Program program;
        const ir::ValueId x = program.add_argument(ir::Role::batch, "x", rows);
        const ir::ValueId y = program.add_argument(ir::Role::batch, "y", rows);
        ops::Builder builder(program, program.body);
        ops::matmul(builder, x, y, false, true);
        const exec::KernelDesc call(program, program.body.ops.front());
        kernel_ = std::make_unique<exec::Kernel>(call, exec::choose_backend(call, backends()));
        workspace_ = aligned_bytes(kernel_->workspace_bytes());
        left_ = aligned_bytes(rows.bytes());
        right_ = aligned_bytes(rows.bytes());
        out_ =
            aligned_bytes(kProductRows * kProductRows * static_cast<std::int64_t>(sizeof(float)));
    }

    /// Rows that a block lacks are 0.
    void set_left(std::span<const float> rows, std::int64_t width) { fill(left_, rows, width); }
    void set_right(std::span<const float> rows, std::int64_t width) { fill(right_, rows, width); }
    /// [kProductRows, kProductRows], valid until the next run.
    std::span<const float> run() {
        const void* const inputs[] = {left_.get(), right_.get()};
        void* const outputs[] = {out_.get()};
        kernel_->run(inputs, outputs, workspace_.get());
        return {reinterpret_cast<const float*>(out_.get()), kProductRows * kProductRows};
    }

private:
    static void fill(const AlignedBytes& to, std::span<const float> rows, std::int64_t width) {
        const auto all = static_cast<std::size_t>(kProductRows * width) * sizeof(float);
        std::memcpy(to.get(), rows.data(), rows.size_bytes());
        std::memset(to.get() + rows.size_bytes(), 0, all - rows.size_bytes());
    }

    std::unique_ptr<exec::Kernel> kernel_;
    AlignedBytes workspace_, left_, right_, out_;
};

/// The nearest so far, the farthest of them first.
class Nearest {
public:
    void add(float cosine, std::int64_t row, std::size_t most) {
        if (found_.size() == most && cosine <= found_.front().first) {
            return;
        }
        found_.emplace_back(cosine, row);
        std::push_heap(found_.begin(), found_.end(), std::greater<>());
        if (found_.size() > most) {
            std::pop_heap(found_.begin(), found_.end(), std::greater<>());
            found_.pop_back();
        }
    }
    std::vector<std::int64_t> rows() const {
        std::vector<std::int64_t> out;
        for (const auto& [cosine, row] : found_) {
            out.push_back(row);
        }
        return out;
    }

private:
    std::vector<std::pair<float, std::int64_t>> found_;
};

/// Correlation of two arrays of height x width x depth where the second is moved.
double moved_correlation(std::span<const float> one, std::span<const float> other,
                         std::int64_t height, std::int64_t width, std::int64_t depth,
                         std::int64_t down, std::int64_t right) {
    double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (std::int64_t i = std::max<std::int64_t>(0, -down);
         i < height - std::max<std::int64_t>(0, down); ++i) {
        const std::int64_t begin = std::max<std::int64_t>(0, -right) * depth;
        const std::int64_t end = (width - std::max<std::int64_t>(0, right)) * depth;
        const float* a = one.data() + i * width * depth;
        const float* b = other.data() + ((i + down) * width + right) * depth;
        for (std::int64_t j = begin; j < end; ++j) {
            const auto p = static_cast<double>(a[j]);
            const auto q = static_cast<double>(b[j]);
            n += 1;
            x += p;
            y += q;
            xx += p * p;
            yy += q * q;
            xy += p * q;
        }
    }
    const double vary = (xx - x * x / n) * (yy - y * y / n);
    return vary > 0 ? (xy - x * y / n) / std::sqrt(vary) : 0;
}

} // namespace

void centre_and_scale(std::span<float> rows, std::int64_t width) {
    const auto w = static_cast<std::size_t>(width);
    const std::size_t n = rows.size() / w;
    std::vector<double> mean(w);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        mean[i % w] += static_cast<double>(rows[i]) / static_cast<double>(n);
    }
    for (std::size_t row = 0; row < n; ++row) {
        const std::span<float> values = rows.subspan(row * w, w);
        double square = 0;
        for (std::size_t k = 0; k < w; ++k) {
            const double centred = static_cast<double>(values[k]) - mean[k];
            values[k] = static_cast<float>(centred);
            square += centred * centred;
        }
        const double scale = square > 0 && std::isfinite(square) ? 1 / std::sqrt(square) : 0;
        for (float& value : values) {
            value = scale > 0 ? static_cast<float>(static_cast<double>(value) * scale) : 0.0F;
        }
    }
}

std::vector<std::vector<std::int64_t>> nearest_rows(std::span<const float> rows, std::int64_t width,
                                                    std::size_t most, double least,
                                                    const std::function<void(double)>& told,
                                                    const std::stop_token& stop) {
    const std::int64_t n = std::ssize(rows) / width;
    const auto block = [&](std::int64_t first) {
        const std::int64_t count = std::min(kProductRows, n - first);
        return rows.subspan(static_cast<std::size_t>(first * width),
                            static_cast<std::size_t>(count * width));
    };
    std::vector<Nearest> found(static_cast<std::size_t>(n));
    BlockProduct product(width);
    const std::int64_t blocks = (n + kProductRows - 1) / kProductRows;
    const auto limit = static_cast<float>(least);
    std::int64_t done = 0;
    for (std::int64_t i = 0; i < blocks; ++i) {
        product.set_left(block(i * kProductRows), width);
        for (std::int64_t j = i; j < blocks; ++j) {
            if (stop.stop_requested()) {
                return {};
            }
            product.set_right(block(j * kProductRows), width);
            const std::span<const float> cosines = product.run();
            for (std::int64_t a = i * kProductRows; a < std::min(n, (i + 1) * kProductRows); ++a) {
                const float* line = cosines.data() + (a - i * kProductRows) * kProductRows;
                const std::int64_t from = j * kProductRows;
                for (std::int64_t b = std::max(from, a + 1); b < std::min(n, from + kProductRows);
                     ++b) {
                    if (line[b - from] >= limit) {
                        found[static_cast<std::size_t>(a)].add(line[b - from], b, most);
                        found[static_cast<std::size_t>(b)].add(line[b - from], a, most);
                    }
                }
            }
            told(static_cast<double>(++done) /
                 (static_cast<double>(blocks) * static_cast<double>(blocks + 1) / 2));
        }
    }
    std::vector<std::vector<std::int64_t>> out;
    for (const Nearest& one : found) {
        out.push_back(one.rows());
    }
    return out;
}

std::vector<float> outline_of(std::span<const float> sample, const ir::Shape& shape) {
    const bool image = shape.rank() == 3;
    const std::int64_t height = image ? shape[0] : 1;
    const std::int64_t width = image ? shape[1] : std::ssize(sample);
    const std::int64_t depth = image ? shape[2] : 1;
    const std::int64_t tall = std::min(height, kOutlineFields);
    const std::int64_t wide = std::min(width, image ? kOutlineFields : kOutlineStretches);
    std::vector<float> out(static_cast<std::size_t>(tall * wide * depth));
    for (std::int64_t i = 0; i < height; ++i) {
        for (std::int64_t j = 0; j < width; ++j) {
            const std::int64_t field = i * tall / height * wide + j * wide / width;
            for (std::int64_t k = 0; k < depth; ++k) {
                // Sums do for means: fields of all samples are of the same size.
                out[static_cast<std::size_t>(field * depth + k)] +=
                    sample[static_cast<std::size_t>((i * width + j) * depth + k)];
            }
        }
    }
    return out;
}

bool is_image(const ir::Shape& shape) {
    return shape.rank() == 3 && shape[0] > 2 * kMostMove && shape[1] > 2 * kMostMove;
}

double image_likeness(std::span<const float> one, std::span<const float> other,
                      const ir::Shape& shape) {
    double best = 0;
    for (std::int64_t down = -kMostMove; down <= kMostMove; ++down) {
        for (std::int64_t right = -kMostMove; right <= kMostMove; ++right) {
            best = std::max(
                best, moved_correlation(one, other, shape[0], shape[1], shape[2], down, right));
        }
    }
    return best;
}

void standardise_columns(std::span<float> rows, std::int64_t width) {
    const auto w = static_cast<std::size_t>(width);
    std::vector<MomentsOf> moments(w);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        moments[i % w].add(static_cast<double>(rows[i]));
    }
    std::vector<Moments> columns;
    for (const MomentsOf& of : moments) {
        columns.push_back(of.moments());
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Moments& of = columns[i % w];
        rows[i] = static_cast<float>((static_cast<double>(rows[i]) - of.mean) / of.deviation);
    }
}

double row_likeness(std::span<const float> one, std::span<const float> other) {
    double apart = 0;
    double both = 0;
    for (std::size_t k = 0; k < one.size(); ++k) {
        const auto a = static_cast<double>(one[k]);
        const auto b = static_cast<double>(other[k]);
        apart += (a - b) * (a - b);
        both += a * a + b * b;
    }
    return both > 0 ? 1 - apart / both : 1;
}

} // namespace weft::train
