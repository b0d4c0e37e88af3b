// SPDX-License-Identifier: Apache-2.0
// The real numbers of a device's part of an array, in stretches; padding is left out.
#pragma once

#include "core/sharding/sharding.h"
#include "core/train/inside/spread.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weft::train {

class ArrayPart {
public:
    /// What `device` holds of the array. Of devices that hold the same the first one counts, and
    /// the parts of the others are empty.
    ArrayPart(const ir::Type& whole, const sharding::Sharding& placement,
              const sharding::Mesh& mesh, int device);

    std::int64_t elements() const { return elements_; }
    const ir::Type& type() const { return type_; } // of the part, padding included

    /// fn(first element in the part, elements, whether it is a sample of the part). At most
    /// kMostSampled elements and a stretch are samples, evenly over the part.
    template <typename Fn>
    void for_each_stretch(const Fn& fn) const {
        const std::int64_t step =
            std::max<std::int64_t>(1, (elements_ + kMostSampled - 1) / kMostSampled);
        std::int64_t number = 0;
        for (const Run& run : runs_) {
            for (std::int64_t done = 0; done < run.count; done += kStretch) {
                fn(run.first + done, std::min(kStretch, run.count - done), number++ % step == 0);
            }
        }
    }
    /// Adds all of it; bins have the samples.
    void add_to(Spread& spread, const std::byte* data) const;
    /// So many elements are samples.
    std::int64_t samples() const;
    /// Copies the samples of a part, one behind the other.
    void copy_samples(const std::byte* data, std::vector<std::byte>& to) const;
    /// Adds what the samples have become less what they were, all of it in bins. f32 only.
    void add_changes(Spread& spread, const std::byte* now,
                     const std::vector<std::byte>& before) const;

    static constexpr std::int64_t kMostSampled = 65536;

private:
    static constexpr std::int64_t kStretch = 512;
    struct Run {
        std::int64_t first = 0;
        std::int64_t count = 0;
    };

    ir::Type type_;
    std::vector<Run> runs_;
    std::int64_t elements_ = 0;
};

} // namespace weft::train
