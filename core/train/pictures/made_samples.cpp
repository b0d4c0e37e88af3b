// SPDX-License-Identifier: Apache-2.0
#include "core/train/pictures/made_samples.h"

#include "core/base/error.h"
#include "core/base/philox.h"
#include "core/train/program_io.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

namespace weft::train {
namespace {

/// Runs a program over inputs [N, ...] by its batches, and takes the rows of one result. `inputs`
/// are its `argument`.
MadeSamples run_over(exec::Executor& executor, std::string_view program, std::string_view argument,
                     std::string_view result, std::span<const float> inputs,
                     const std::function<std::int32_t(std::size_t)>& label = {}) {
    const plan::PlannedPort* from = find_argument(executor, program, argument);
    const plan::PlannedPort* to = find_result(executor, program, result);
    WEFT_CHECK(from != nullptr && to != nullptr && to->operand.type.dtype == ir::DType::f32,
               "samples are made of f32 and are f32");
    const auto rows = static_cast<std::size_t>(from->whole.shape[0]);
    const std::size_t width = static_cast<std::size_t>(from->whole.shape.elements()) / rows;
    const std::size_t size = static_cast<std::size_t>(to->whole.shape.elements()) / rows;
    const std::size_t count = inputs.size() / width;
    MadeSamples out;
    out.shape = to->whole.shape;
    out.shape[0] = static_cast<std::int64_t>(count);
    out.values.resize(count * size);
    std::vector<float> batch(rows * width);
    std::vector<std::int32_t> labels(rows);
    for (std::size_t first = 0; first < count; first += rows) {
        const std::size_t n = std::min(rows, count - first);
        std::fill(batch.begin(), batch.end(), 0.0F);
        std::copy_n(inputs.begin() + static_cast<std::ptrdiff_t>(first * width), n * width,
                    batch.begin());
        write_argument(executor, program, argument, std::as_bytes(std::span(batch)));
        if (label) {
            for (std::size_t i = 0; i < rows; ++i) {
                labels[i] = label(first + i);
            }
            write_argument(executor, program, "labels", std::as_bytes(std::span(labels)));
        }
        executor.run(program);
        std::memcpy(out.values.data() + first * size, executor.read(program, result).data(),
                    n * size * sizeof(float));
    }
    return out;
}

} // namespace

bool makes_samples(const exec::Executor& executor) {
    return !executor.plan().all_stages("make").empty();
}

std::int64_t latent_size(const exec::Executor& executor) {
    if (!makes_samples(executor)) {
        throw Error(ErrorKind::usage, "generate", "this model makes no samples",
                    "use a model that does, such as vae");
    }
    const ir::Shape& shape = find_argument(executor, "make", "latents")->whole.shape;
    return shape.elements() / shape[0];
}

std::vector<float> draw_latents(const exec::Executor& executor, std::uint64_t seed,
                                std::int64_t count) {
    const auto size = static_cast<std::uint64_t>(latent_size(executor));
    const RandomStream random(seed, "latents");
    std::vector<float> out(static_cast<std::size_t>(count) * size);
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = random.normal(0, i);
    }
    return out;
}

std::vector<float> latent_walk(const exec::Executor& executor, std::uint64_t from, std::uint64_t to,
                               std::int64_t count) {
    const std::vector<float> a = draw_latents(executor, from, 1);
    const std::vector<float> b = draw_latents(executor, to, 1);
    const auto product = [](const std::vector<float>& x, const std::vector<float>& y) {
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
        }
        return sum;
    };
    const double cosine = product(a, b) / std::sqrt(product(a, a) * product(b, b));
    const double angle = std::acos(std::clamp(cosine, -1.0, 1.0));
    std::vector<float> out;
    for (std::int64_t i = 0; i < count; ++i) {
        const double part =
            count == 1 ? 0.0 : static_cast<double>(i) / static_cast<double>(count - 1);
        const bool straight = std::sin(angle) < 1e-6; // one direction: the arc has no plane
        const double of_a = straight ? 1 - part : std::sin((1 - part) * angle) / std::sin(angle);
        const double of_b = straight ? part : std::sin(part * angle) / std::sin(angle);
        for (std::size_t k = 0; k < a.size(); ++k) {
            out.push_back(static_cast<float>(of_a * static_cast<double>(a[k]) +
                                             of_b * static_cast<double>(b[k])));
        }
    }
    return out;
}

std::int64_t sample_classes(const exec::Executor& executor, const data::SampleInfo& info) {
    return find_argument(executor, "make", "labels") == nullptr ? 0 : info.classes;
}

MadeSamples make_samples(exec::Executor& executor, const data::SampleInfo& info,
                         std::span<const float> latents, std::span<const std::int32_t> labels) {
    const auto size = static_cast<std::size_t>(latent_size(executor));
    WEFT_CHECK(!latents.empty() && latents.size() % size == 0, "latents are whole");
    const auto classes = static_cast<std::size_t>(sample_classes(executor, info));
    const auto label = [&](std::size_t i) {
        return i < labels.size() ? labels[i] : static_cast<std::int32_t>(i % classes);
    };
    return classes == 0 ? run_over(executor, "make", "latents", "samples", latents)
                        : run_over(executor, "make", "latents", "samples", latents, label);
}

bool reconstructs(const exec::Executor& executor) {
    return !executor.plan().all_stages("predict").empty() &&
           find_result(executor, "predict", "reconstruction") != nullptr;
}

MadeSamples reconstructions(exec::Executor& executor, const data::Source& source,
                            std::span<const std::int64_t> indices) {
    const auto size = static_cast<std::size_t>(source.info().input.shape.elements());
    std::vector<float> inputs;
    std::vector<float> sample(size);
    for (const std::int64_t index : indices) {
        try {
            source.read(index, std::as_writable_bytes(std::span(sample)), {});
        } catch (const data::DamagedSample&) {
            continue; // the evaluation has told it
        }
        inputs.insert(inputs.end(), sample.begin(), sample.end());
    }
    return run_over(executor, "predict", "inputs", "reconstruction", inputs);
}

} // namespace weft::train
