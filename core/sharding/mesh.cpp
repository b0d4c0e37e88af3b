// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/mesh.h"

#include "core/base/check.h"

#include <algorithm>

namespace weft::sharding {

std::int64_t Mesh::devices() const {
    std::int64_t count = 1;
    for (const Axis& axis : axes) {
        count *= axis.size;
    }
    return count;
}

int Mesh::find(std::string_view name) const {
    const auto found =
        std::find_if(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.name == name; });
    return found == axes.end() ? -1 : static_cast<int>(found - axes.begin());
}

std::int64_t Mesh::size(std::span<const int> some) const {
    std::int64_t count = 1;
    for (const int axis : some) {
        count *= size(axis);
    }
    return count;
}

std::vector<std::int64_t> Mesh::coordinates(std::int64_t device) const {
    WEFT_CHECK(device >= 0 && device < devices(), "the device is on the mesh");
    std::vector<std::int64_t> out(axes.size());
    for (std::size_t i = axes.size(); i-- > 0;) {
        out[i] = device % axes[i].size;
        device /= axes[i].size;
    }
    return out;
}

std::int64_t Mesh::device(std::span<const std::int64_t> coordinates) const {
    WEFT_CHECK(coordinates.size() == axes.size(), "one coordinate per axis");
    std::int64_t number = 0;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        number = number * axes[i].size + coordinates[i];
    }
    return number;
}

std::int64_t Mesh::index(std::int64_t device, std::span<const int> some) const {
    const std::vector<std::int64_t> place = coordinates(device);
    std::int64_t number = 0;
    for (const int axis : some) {
        number = number * size(axis) + place[static_cast<std::size_t>(axis)];
    }
    return number;
}

std::vector<std::vector<std::int64_t>> Mesh::groups(std::span<const int> some) const {
    std::vector<std::vector<std::int64_t>> out;
    for (std::int64_t first = 0; first < devices(); ++first) {
        if (index(first, some) != 0) {
            continue;
        }
        std::vector<std::int64_t>& group = out.emplace_back();
        std::vector<std::int64_t> place = coordinates(first);
        for (std::int64_t number = 0; number < size(some); ++number) {
            std::int64_t rest = number;
            for (std::size_t i = some.size(); i-- > 0;) {
                place[static_cast<std::size_t>(some[i])] = rest % size(some[i]);
                rest /= size(some[i]);
            }
            group.push_back(device(place));
        }
    }
    return out;
}

std::string Mesh::to_text() const {
    std::string out;
    for (const Axis& axis : axes) {
        if (axis.size > 1) {
            out += (out.empty() ? "" : " x ") + axis.name + "=" + std::to_string(axis.size);
        }
    }
    return out.empty() ? "one device" : out;
}

} // namespace weft::sharding
