// SPDX-License-Identifier: Apache-2.0
// Samples of images side by side in one picture, and any samples as an array file. Pure functions.
#pragma once

#include "core/config/json.h"
#include "core/train/pictures/made_samples.h"

#include <string>
#include <vector>

namespace weft::train {

/// From values as a model sees them to those of a picture, from 0 to 1: one of each per channel, or
/// one for all.
struct PixelScale {
    std::vector<float> factor = {1.0F};
    std::vector<float> shift = {0.0F};
};
/// What undoes the "normalize" of a fitted list of transforms (data::fitted_for).
PixelScale pixel_scale(const config::Json& fitted_transforms);

/// Whether samples of this type [H, W, C] can be a picture: one channel or three.
bool is_picture(const ir::Type& sample);

/// One of samples as values of a picture, from 0 to 1.
std::vector<float> pixels(const MadeSamples& samples, std::int64_t index, const PixelScale& scale);

/// Rows of samples [N, H, W, C] as one PNG without gaps; a short row ends in black.
std::string picture_sheet(const std::vector<MadeSamples>& rows, const PixelScale& scale);
/// `count` of one list in rows of `columns`.
std::string picture_grid(const MadeSamples& samples, std::int64_t columns, const PixelScale& scale);

/// An .npy file, format 1.0, little-endian f32.
std::string npy_file(const MadeSamples& samples);

} // namespace weft::train
