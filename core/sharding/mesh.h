// SPDX-License-Identifier: Apache-2.0
// A mesh: devices arranged along named, ordered axes. Order is placement: the last axis is the one
// whose neighbours have consecutive device numbers. Device (d, m) of axes data x model is
// d * model + m.
#pragma once

#include "core/base/check.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sharding {

inline constexpr int kMostAxes = 8;

struct Axis {
    std::string name;
    std::int64_t size = 1;

    friend bool operator==(const Axis&, const Axis&) = default;
};

/// Axes of a mesh, major to minor, kept in place: propagation handles millions of such lists.
class AxisList {
public:
    using value_type = int;
    using iterator = int*;
    using const_iterator = const int*;

    AxisList() = default;
    AxisList(std::initializer_list<int> axes) : AxisList(axes.begin(), axes.end()) {}
    AxisList(const std::vector<int>& axes)
        : AxisList(axes.data(), axes.data() + axes.size()) {}
    AxisList(const int* first, const int* last) {
        for (; first != last; ++first) {
            push_back(*first);
        }
    }

    void push_back(int axis) {
        WEFT_CHECK(size_ < kMostAxes, "read_run_config admits meshes of at most 8 axes");
        axes_[static_cast<std::size_t>(size_++)] = axis;
    }
    template <class Predicate>
    void remove_if(Predicate predicate) {
        size_ = static_cast<int>(std::remove_if(begin(), end(), predicate) - begin());
    }

    int* begin() { return axes_.data(); }
    int* end() { return axes_.data() + size_; }
    const int* begin() const { return axes_.data(); }
    const int* end() const { return axes_.data() + size_; }
    int* data() { return axes_.data(); }
    const int* data() const { return axes_.data(); }
    std::size_t size() const { return static_cast<std::size_t>(size_); }
    bool empty() const { return size_ == 0; }
    int front() const { return axes_[0]; }
    int operator[](std::size_t i) const { return axes_[i]; }

    friend bool operator==(const AxisList& a, const AxisList& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    std::array<int, kMostAxes> axes_{};
    int size_ = 0;
};

struct Mesh {
    std::vector<Axis> axes; // major to minor; at most kMostAxes

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
