// SPDX-License-Identifier: Apache-2.0
// The record of a transform of images f32[H,W,C], in place. Listed in transform_list.h.
#pragma once

#include "core/base/philox.h"
#include "core/data/dataset.h"

#include <memory>
#include <span>
#include <string_view>

namespace weft::data {

class Transform {
public:
    virtual ~Transform() = default;
    /// Changes one sample (the elements of info().input). `words` are the sample's own random
    /// numbers of this epoch; deterministic transforms ignore them. Any thread.
    virtual void apply(std::span<float> sample, const PhiloxCounter& words) const = 0;
};

struct TransformDef {
    std::string_view name;
    std::string_view help;
    bool random; // for training only
    config::FieldTable (*fields)();
    /// Throws weft::Error{data} at `where` when the samples do not suit it.
    std::unique_ptr<const Transform> (*make)(const config::Json& settings, const SampleInfo& info,
                                             const std::string& where);
};

/// Height, width and channels of image samples; Error{data} at `where` for anything else.
struct ImageShape {
    std::int64_t height, width, channels;
};
ImageShape image_shape(const SampleInfo& info, const std::string& where);

/// `source` with the "transforms" list applied: deterministic ones always, random ones in
/// read_in_epoch and only when `training`. Returns `source` itself when nothing is to do.
std::shared_ptr<const Source> transformed(std::shared_ptr<const Source> source,
                                          const config::Json& list, std::uint64_t seed,
                                          bool training);

} // namespace weft::data
