// SPDX-License-Identifier: Apache-2.0
// Between whole arrays on the host and the parts that devices hold.
#pragma once

#include "core/sharding/sharding.h"

#include <cstddef>
#include <span>

namespace weft::exec {

/// Fills a device's part of an array; padding becomes zero.
void cut_part(const ir::Type& whole, std::span<const std::byte> from,
              const sharding::Sharding& placement, const sharding::Mesh& mesh, int device,
              std::span<std::byte> part);

/// Puts a device's part in its place; padding is left out.
void join_part(const ir::Type& whole, std::span<std::byte> to, const sharding::Sharding& placement,
               const sharding::Mesh& mesh, int device, std::span<const std::byte> part);

/// Whether the device is the first of those that hold the same part.
bool first_replica(const sharding::Sharding& placement, const sharding::Mesh& mesh, int device);

} // namespace weft::exec
