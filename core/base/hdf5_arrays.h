// SPDX-License-Identifier: Apache-2.0
// Arrays in HDF5 files that other programs wrote: any integer or real type and byte order, chunked
// and compressed or not. Our own containers are read by hdf5_file.h, which is stricter. Files come
// from users: what lies in other files is not followed, sizes are checked before memory is taken.
// Thread-safe; the library's lock is held during a call.
#pragma once

#include "core/base/hdf5_file.h"

#include <cstddef>
#include <functional>

namespace weft {

struct Hdf5Array {
    std::string name;              // without a leading '/'
    Hdf5Type type = Hdf5Type::f32; // as it is read: u8, i64, f32 or f64
    std::vector<int64_t> shape;
    int64_t bytes = 0; // as it is read
    /// Where the elements lie in the file, one after the other, exactly as they are read; -1: they
    /// are chunked, compressed or of another type.
    int64_t offset = -1;
    std::string problem; // why it cannot be read (a text, a compound); empty: it can
};

/// The data sets of a file by name. Links to other places are left out. Throws Error{data}.
std::vector<Hdf5Array> list_hdf5_arrays(const Path& path);

/// A whole array as its `type`, in the byte order of this machine; `out` has its `bytes`. It is
/// read in pieces of some MiB; `reached` hears before each how many rows are there, and may end it
/// by throwing. Throws Error{data}.
void read_hdf5_array(const Path& path, const Hdf5Array& array, std::span<std::byte> out,
                     const std::function<void(int64_t rows)>& reached = {});

} // namespace weft
