// SPDX-License-Identifier: Apache-2.0
// A mesh: devices arranged along named, ordered axes. Order is placement: the last axis is the one
// whose neighbours have consecutive device numbers. Device (d, m) of axes data x model is
// d * model + m.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sharding {

struct Axis {
    std::string name;
    std::int64_t size = 1;

    friend bool operator==(const Axis&, const Axis&) = default;
};

struct Mesh {
    std::vector<Axis> axes; // major to minor

    std::int64_t devices() const;
    bool single() const { return devices() == 1; }
    /// Position of an axis; -1 when there is none of that name.
    int find(std::string_view name) const;
    std::int64_t size(int axis) const { return axes[static_cast<std::size_t>(axis)].size; }
    /// Product of the sizes of several axes.
    std::int64_t size(std::span<const int> some) const;

    /// One number per axis, in the order of the axes.
    std::vector<std::int64_t> coordinates(std::int64_t device) const;
    std::int64_t device(std::span<const std::int64_t> coordinates) const;
    /// Number of a device within its group along `some` axes, major to minor.
    std::int64_t index(std::int64_t device, std::span<const int> some) const;
    /// The devices that differ in `some` axes only, each group in the order of `index`.
    std::vector<std::vector<std::int64_t>> groups(std::span<const int> some) const;

    /// "data=2 x model=4"; "one device" without axes larger than 1.
    std::string to_text() const;
    friend bool operator==(const Mesh&, const Mesh&) = default;
};

} // namespace weft::sharding
