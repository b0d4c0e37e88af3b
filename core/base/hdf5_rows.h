// SPDX-License-Identifier: Apache-2.0
// Rows of an array in an HDF5 file of others, any of them, without the rest in memory.
//
// Of a chunked array libhdf5 hands out packed chunks only; gzip, shuffle and fletcher32 (HDF5 File
// Format Specification 3.0, IV.A.2.l) are undone here, outside the library's lock, so that several
// threads unpack at once, and what comes out is of the right size before the library converts
// numbers of other types. Other filters are left to the library, one thread at a time. One handle
// stays open: the index of the chunks is read once.
#pragma once

#include "core/base/hdf5_arrays.h"

#include <memory>
#include <span>

namespace weft {

class Hdf5Rows {
public:
    /// `array` as list_hdf5_arrays told of it, with no problem and a first dimension. Throws
    /// Error{data}.
    Hdf5Rows(const Path& path, const Hdf5Array& array);
    ~Hdf5Rows();
    Hdf5Rows(const Hdf5Rows&) = delete;
    Hdf5Rows& operator=(const Hdf5Rows&) = delete;

    /// Rows that are unpacked together: reading fewer costs as much. They begin at multiples.
    int64_t rows_together() const;
    /// Extents of a chunk, of which the first is rows_together(); empty: there are none.
    std::span<const int64_t> chunk() const;
    /// Rows [first, first + count) as the array's type, row-major, in the byte order of this
    /// machine; `out` has their bytes. Any thread. Throws Error{data}.
    void read(int64_t first, int64_t count, std::span<std::byte> out) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace weft
