// SPDX-License-Identifier: Apache-2.0
// Weights to start from that lie in an object store, as a path of this machine.
#pragma once

#include "core/store/address.h"

#include <filesystem>

namespace weft::checkpoint {

/// A checkpoint, the newest one of a run, a file of weights with what describes it beside, or a
/// folder of such files: copied into the cache, each object once, again when the store has other
/// content. Where the store does not answer, copies of files that are here serve. Throws
/// weft::Error{checkpoint}: nothing of these is there; the store's own errors.
std::filesystem::path fetch_weights(const store::Address& named);

} // namespace weft::checkpoint
