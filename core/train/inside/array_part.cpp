// SPDX-License-Identifier: Apache-2.0
#include "core/train/inside/array_part.h"

#include "core/exec/placement_copy.h"

#include <array>
#include <cstring>

namespace weft::train {

ArrayPart::ArrayPart(const ir::Type& whole, const sharding::Sharding& placement,
                     const sharding::Mesh& mesh, int device)
    : type_(sharding::local_type(whole, placement, mesh)) {
    if (!placement.holds(mesh, device) || !exec::first_replica(placement, mesh, device)) {
        return;
    }
    if (sharding::padding_bytes(whole, placement, mesh) == 0) {
        runs_.push_back({0, type_.shape.elements()});
    } else {
        const auto size = static_cast<std::size_t>(ir::dtype_bytes(whole.dtype));
        exec::for_each_run(whole, placement, mesh, device, [&](const exec::CommonRun& run) {
            runs_.push_back({static_cast<std::int64_t>(run.in_part / size),
                             static_cast<std::int64_t>(run.bytes / size)});
        });
    }
    for (const Run& run : runs_) {
        elements_ += run.count;
    }
}

void ArrayPart::add_to(Spread& spread, const std::byte* data) const {
    const std::int64_t size = ir::dtype_bytes(type_.dtype);
    for_each_stretch([&](std::int64_t first, std::int64_t count, bool sample) {
        spread.add(type_.dtype, data + first * size, count,
                   sample ? Spread::Bins::count : Spread::Bins::leave);
    });
}

std::int64_t ArrayPart::samples() const {
    std::int64_t out = 0;
    for_each_stretch(
        [&](std::int64_t, std::int64_t count, bool sample) { out += sample ? count : 0; });
    return out;
}

void ArrayPart::copy_samples(const std::byte* data, std::vector<std::byte>& to) const {
    const std::int64_t size = ir::dtype_bytes(type_.dtype);
    to.resize(static_cast<std::size_t>(samples() * size));
    std::byte* end = to.data();
    for_each_stretch([&](std::int64_t first, std::int64_t count, bool sample) {
        if (sample) {
            std::memcpy(end, data + first * size, static_cast<std::size_t>(count * size));
            end += count * size;
        }
    });
}

void ArrayPart::add_changes(Spread& spread, const std::byte* now,
                            const std::vector<std::byte>& before) const {
    WEFT_CHECK(type_.dtype == ir::DType::f32, "weights are kept in f32");
    const std::byte* old = before.data();
    std::array<float, kStretch> then, changes;
    for_each_stretch([&](std::int64_t first, std::int64_t count, bool sample) {
        if (!sample) {
            return;
        }
        const auto bytes = static_cast<std::size_t>(count) * sizeof(float);
        std::memcpy(then.data(), old, bytes);
        std::memcpy(changes.data(), now + static_cast<std::size_t>(first) * sizeof(float), bytes);
        std::transform(changes.begin(), changes.begin() + count, then.begin(), changes.begin(),
                       std::minus<>());
        spread.add(ir::DType::f32, changes.data(), count);
        old += bytes;
    });
}

} // namespace weft::train
