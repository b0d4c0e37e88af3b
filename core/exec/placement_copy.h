// SPDX-License-Identifier: Apache-2.0
// Between whole arrays on the host and the parts that devices hold.
#pragma once

#include "core/sharding/sharding.h"

#include <cstddef>
#include <functional>
#include <span>

namespace weft::exec {

/// Fills a device's part of an array; padding becomes zero.
void cut_part(const ir::Type& whole, std::span<const std::byte> from,
              const sharding::Sharding& placement, const sharding::Mesh& mesh, int device,
              std::span<std::byte> part);

/// Puts a device's part in its place; padding is left out.
void join_part(const ir::Type& whole, std::span<std::byte> to, const sharding::Sharding& placement,
               const sharding::Mesh& mesh, int device, std::span<const std::byte> part);

/// Bytes that an array and a device's part of it have in common.
struct CommonRun {
    std::size_t in_whole = 0;
    std::size_t in_part = 0;
    std::size_t bytes = 0;
};
/// Visits everything that a device holds of an array; padding is left out.
void for_each_run(const ir::Type& whole, const sharding::Sharding& placement,
                  const sharding::Mesh& mesh, int device,
                  const std::function<void(const CommonRun&)>& visit);

/// Whether the device is the first of those that hold the same part.
bool first_replica(const sharding::Sharding& placement, const sharding::Mesh& mesh, int device);

} // namespace weft::exec
