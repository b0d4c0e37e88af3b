// SPDX-License-Identifier: Apache-2.0
// From one placement of a value to another: the exchanges, cuts and copies that make it so. Sums
// that are to be split are reduced and scattered in one exchange, splits that move between
// dimensions go by all-to-all, and what is cut is cut before anything is gathered. Private to
// core/sharding.
#pragma once

#include "core/ops/builder.h"
#include "core/sharding/sharding.h"

#include <functional>

namespace weft::sharding {

/// Why a value is exchanged; goes into every exchange (core/ops/collective.cpp).
struct Cause {
    std::string reader; // "dropout at blocks.0.mlp.down"
    std::string what;   // "blocks.0.mlp.down output"
    /// "NAME is split over its rows" and NAME: why it is added up, and why it is moved.
    std::string sum_why, sum_tensor;
    std::string move_why, move_tensor;
};

class Resharder {
public:
    /// `coordinates` gives the program's argument of that name, made on first use.
    Resharder(const Mesh& mesh, std::function<ir::ValueId()> coordinates)
        : mesh_(mesh), coordinates_(std::move(coordinates)) {}

    /// Appends what turns `value`, a part of an array of type `whole` placed as `from`, into its
    /// part placed as `to`. `cause` goes into every exchange.
    ir::ValueId reshard(ops::Builder& b, ir::ValueId value, const ir::Type& whole, Sharding from,
                        const Sharding& to, const Cause& cause) const;

    ir::ValueId all_reduce(ops::Builder& b, ir::ValueId value, std::span<const int> axes,
                           std::string_view how, const Cause& cause) const;
    /// The value of the device `shift` places before, around the group along the axes.
    ir::ValueId permute(ops::Builder& b, ir::ValueId value, std::span<const int> axes,
                        std::int64_t shift, const Cause& cause) const;
    struct Stride {
        AxisList axes;
        std::int64_t step = 1;
    };
    /// i64[R]: base[r] + for each stride of row r its step times the device's number along its
    /// axes.
    ir::ValueId index(ops::Builder& b, const std::vector<std::vector<Stride>>& rows,
                      const std::vector<std::int64_t>& base) const;
    /// The local part with `value` in the padding of one split.
    ir::ValueId mask(ops::Builder& b, ir::ValueId x, int dim, const DimSharding& splits,
                     std::size_t split, std::int64_t extent, double value) const;

private:
    struct View;
    View view(const ir::Shape& shape, int dim, const DimSharding& splits, std::size_t split,
              std::int64_t extent) const;
    enum class Reason : bool { sum, move };
    ir::Attributes exchange(std::span<const int> axes, const Cause& cause, Reason reason) const;
    ir::ValueId stack(ops::Builder& b, ir::ValueId x, const View& at, bool parts_first) const;
    ir::ValueId unstack(ops::Builder& b, ir::ValueId x, const View& at) const;
    ir::ValueId gather(ops::Builder& b, ir::ValueId x, const View& at,
                       const Cause& cause) const;
    ir::ValueId pick(ops::Builder& b, ir::ValueId x, const View& at) const;
    ir::ValueId scatter(ops::Builder& b, ir::ValueId x, const View& at,
                        const Cause& cause) const;
    ir::ValueId exchange_dims(ops::Builder& b, ir::ValueId x, const View& to, int dim,
                              const DimSharding& from, std::size_t split, std::int64_t extent,
                              const Cause& cause) const;
    ir::ValueId first_only(ops::Builder& b, ir::ValueId x, const AxisList& axes) const;

    const Mesh& mesh_;
    std::function<ir::ValueId()> coordinates_;
};

} // namespace weft::sharding
