// SPDX-License-Identifier: Apache-2.0
// The beginning of an .npy file that we write (NumPy Enhancement Proposal 1, format version 1).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weft {

/// What stands before dense, row-major elements, up to a multiple of 64 bytes. `type` as NumPy
/// writes it: "<f4".
std::string npy_beginning(std::string_view type, std::span<const std::int64_t> shape);

} // namespace weft
