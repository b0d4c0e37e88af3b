// SPDX-License-Identifier: Apache-2.0
// Files of a "data" section that lie in object stores ("s3://bucket/rows.h5"): they are copied to
// this machine, and read there like any other.
#pragma once

#include "core/data/dataset.h"

namespace weft::data {

enum class StoreCheck : std::uint8_t {
    newest, // asks the stores for what is newer than the copies
    any,    // takes the copies that are here
};

/// Copies what a section names and is not here. Tells of it as an Opening in bytes. Throws
/// weft::Error, also when a stop is asked for.
Notes fetch_from_stores(const config::Json& section, const OpenContext& context, StoreCheck check);

} // namespace weft::data
