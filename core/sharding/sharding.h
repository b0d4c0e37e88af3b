// SPDX-License-Identifier: Apache-2.0
// How one array lies over a mesh: which axes split which dimension, and over which axes every
// device holds only a term of the sum.
//
// A split views its dimension as parts x units x unit elements and deals the units out in runs, one
// run per device. One part and units of one element are the plain case. A fused query-key-value
// weight [C, 3C] has three parts, and units of one head's width, so that each device holds whole
// heads of all three. Rows made of samples and positions, [B T], may be split twice: by samples
// (units of T) and by positions (B parts). Runs that come out short are padded at their end.
#pragma once

#include "core/ir/program.h"
#include "core/ops/op_def.h"
#include "core/sharding/mesh.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::sharding {

struct Split {
    AxisList axes; // never empty
    std::int64_t parts = 1;
    std::int64_t unit = 1; // elements

    friend bool operator==(const Split&, const Split&) = default;
};

/// The splits of one dimension, major to minor: the units of one lie within a unit of that before.
using DimSharding = std::vector<Split>;

/// Only the devices with this coordinate on an axis hold the array: a stage of a pipeline.
struct Pin {
    int axis = 0;
    std::int64_t index = 0;

    friend bool operator==(const Pin&, const Pin&) = default;
};

struct Sharding {
    std::vector<DimSharding> dims; // one per dimension
    std::vector<int> partial; // axes over which the devices' arrays are terms of a sum; ascending
    std::optional<Pin> pin = {}; // none: every device holds a part

    static Sharding replicated(int rank) {
        return {std::vector<DimSharding>(static_cast<std::size_t>(rank)), {}};
    }
    /// Whether the device holds a part of the array.
    bool holds(const Mesh& mesh, std::int64_t device) const;
    /// The devices that hold a part, ascending.
    std::vector<std::int64_t> holders(const Mesh& mesh) const;
    /// Every device that holds a part holds all of the array.
    bool is_replicated() const;
    /// Whether a dimension is split over the axis.
    bool uses(int axis) const;
    friend bool operator==(const Sharding&, const Sharding&) = default;
};

/// Units of a split and how many a device holds, padding included.
struct Deal {
    std::int64_t devices = 1;
    std::int64_t units = 1;
    std::int64_t local = 1;

    std::int64_t padding() const { return devices * local - units; }
};
Deal deal(const Split& split, std::int64_t extent, const Mesh& mesh);

/// The same split with the largest unit that means the same: equal splits compare equal. `extent`
/// is that of the whole dimension.
Split canonical(Split split, std::int64_t extent, const Mesh& mesh);
/// Whether parts and units fit the dimension and there is at least one unit for every device.
bool fits(const Split& split, std::int64_t extent, const Mesh& mesh);

/// Adds a split where it nests with those that are there, and says at which place; -1: it does not.
int insert_split(DimSharding& dim, const Split& split, std::int64_t extent, const Mesh& mesh);

/// Elements of the dimension, or extents of the array, that a device holds, padding included.
std::int64_t local_extent(const DimSharding& dim, std::int64_t extent, const Mesh& mesh);
ir::Type local_type(const ir::Type& type, const Sharding& sharding, const Mesh& mesh);
/// Bytes of padding on all devices together; what one device has too much on average, times
/// devices.
std::int64_t padding_bytes(const ir::Type& type, const Sharding& sharding, const Mesh& mesh);

/// A device's part of a dimension around one of its splits: `before` x units x `behind` elements.
struct Surround {
    std::int64_t before = 1;
    std::int64_t behind = 1;
};
Surround around(const DimSharding& dim, std::size_t split, std::int64_t extent, const Mesh& mesh);

/// A split of a dimension made of factors (major to minor), seen from one of them; none when it is
/// not a split of that factor. And back.
std::optional<Split> to_factor(const Split& split, const std::vector<int>& factors, std::size_t at,
                               const ops::FactorRule& rule, const Mesh& mesh);
Split from_factor(const Split& split, const std::vector<int>& factors, std::size_t at,
                  const ops::FactorRule& rule, const Mesh& mesh);

/// JAX text, and program annotations: P('data', None) partial('model').
ir::Spec to_spec(const Sharding& sharding, const Mesh& mesh);
/// Units of one element. Axes that the mesh lacks are a programmer fault: see check_spec.
Sharding from_spec(const ir::Spec& spec, const ir::Shape& shape, const Mesh& mesh);
/// What is wrong with a spec for an array of this shape, in words for the user; empty: nothing. The
/// error set of jax.sharding.NamedSharding: unknown axis, axis used twice, more entries than
/// dimensions.
std::string check_spec(const ir::Spec& spec, const ir::Shape& shape, const Mesh& mesh);

/// A stretch of a dimension: [first, first + count) of the whole lies at `local` of the part.
struct Range {
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::int64_t local = 0;

    friend bool operator==(const Range&, const Range&) = default;
};
/// The real elements of a dimension that a device holds, ascending.
std::vector<Range> ranges(const DimSharding& dim, std::int64_t extent, const Mesh& mesh,
                          std::int64_t device);

} // namespace weft::sharding
