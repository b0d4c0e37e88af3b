// SPDX-License-Identifier: Apache-2.0
// Samples that a model makes out of latents, and those that it gives back of the data's. Made by
// the weights that the executor holds.
#pragma once

#include "core/data/dataset.h"
#include "core/exec/executor.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft::train {

/// f32 samples as the model sees them: after transforms.
struct MadeSamples {
    ir::Shape shape; // [N, input...]
    std::vector<float> values;

    std::int64_t count() const { return shape[0]; }
    std::span<const float> sample(std::int64_t index) const {
        const auto size = static_cast<std::size_t>(shape.elements() / shape[0]);
        return std::span(values).subspan(static_cast<std::size_t>(index) * size, size);
    }
};

/// Whether the model makes samples (its program "make" is run).
bool makes_samples(const exec::Executor& executor);

/// Numbers per latent.
std::int64_t latent_size(const exec::Executor& executor);

/// Normally distributed latents [count, latent_size]: the n-th of a seed is the same whatever the
/// count, the model and the machine.
std::vector<float> draw_latents(const exec::Executor& executor, std::uint64_t seed,
                                std::int64_t count);

/// `count` latents from the first of one seed to the first of another, along the arc between them,
/// so that all are as likely.
std::vector<float> latent_walk(const exec::Executor& executor, std::uint64_t from, std::uint64_t to,
                               std::int64_t count);

/// Classes that samples are made of, besides none of them; 0: the model knows no classes.
std::int64_t sample_classes(const exec::Executor& executor, const data::SampleInfo& info);

/// One sample per latent of [N, latent_size], of the class of the same place in `labels`; past
/// their end one class after the other. Throws weft::Error{usage} when the model makes none.
MadeSamples make_samples(exec::Executor& executor, const data::SampleInfo& info,
                         std::span<const float> latents, std::span<const std::int32_t> labels = {});

/// Whether the model gives samples back.
bool reconstructs(const exec::Executor& executor);

/// What the model gives back of the samples `indices` of `source`: their mean, with nothing drawn;
/// damaged ones are left out.
MadeSamples reconstructions(exec::Executor& executor, const data::Source& source,
                            std::span<const std::int64_t> indices);

} // namespace weft::train
