// SPDX-License-Identifier: Apache-2.0
// The beginning of an .npy file (NumPy Enhancement Proposal 1, format versions 1 to 3).
#pragma once

#include "core/data/arrays/array_data.h"

namespace weft::data {

struct NpyHeader {
    Element element = Element::f4;
    bool big_endian = false;
    bool fortran_order = false; // the first dimension varies fastest
    std::vector<std::int64_t> shape;
    std::int64_t offset = 0; // of the elements
};

bool looks_like_npy(const Path& path);

/// Throws weft::Error{data} for a damaged header, for elements that are no numbers, and for a file
/// that does not have the size that its header announces.
NpyHeader read_npy_header(const Path& path);

/// The array of a file. In Fortran order it is read and put in row-major order in memory; `load`
/// false: not read, for outlines.
enum class LoadArray : std::uint8_t { yes, no };
ArrayData open_npy(const Path& path, LoadArray load);
/// Bytes that open_npy keeps in memory.
std::int64_t npy_memory_bytes(const NpyHeader& header);

} // namespace weft::data
