// SPDX-License-Identifier: Apache-2.0
// HDF5 containers of plain arrays, as we write them. Files of others: hdf5_arrays.h.
//
// libhdf5 has one global lock, so it does the metadata only, under a lock of our own, and no handle
// of it outlives a call. Payload is read and written by the caller with File::read_at and write_at
// at the offsets given here, outside every lock: a save never stalls a loader.
//
// What we write and accept: data sets in one contiguous piece, no filters, hard links only. Files
// come from users: external storage, external and soft links, virtual and chunked data sets, filters,
// other types and ranges outside the file are refused with the name of the data set.
//
// Layout: HDF5 File Format Specification 3.0. Thread-safe.
#pragma once

#include "core/base/file.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Element types. bf16 and f16 are stored as u16 with the attribute dtype = "bf16" or "f16" on the
/// data set.
enum class Hdf5Type { u8, u16, i32, i64, bf16, f16, f32, f64 };

int64_t hdf5_type_bytes(Hdf5Type type);
std::string_view hdf5_type_name(Hdf5Type type);

/// A data set to create. Names may contain '/': groups are made on the way.
struct Hdf5Spec {
    std::string name;
    Hdf5Type type = Hdf5Type::f32;
    std::vector<int64_t> shape; // empty: one scalar
};

/// A data set in a file. `offset` counts from the start of the file; both are 0 when it is empty.
struct Hdf5Dataset {
    std::string name; // without a leading '/'
    Hdf5Type type = Hdf5Type::f32;
    std::vector<int64_t> shape;
    int64_t offset = 0;
    int64_t bytes = 0;
};

using Hdf5Attributes = std::map<std::string, std::string>;

struct Hdf5Index {
    std::vector<Hdf5Dataset> datasets; // sorted by name
    Hdf5Attributes attributes;         // text attributes of the file itself

    /// Null when there is none of this name.
    const Hdf5Dataset* find(std::string_view name) const;
};

/// Creates `path` (must not exist) with every data set allocated and no payload written, and says
/// where each payload goes, in the order of `specs`. Equal arguments give equal bytes.
/// Throws Error{checkpoint} when libhdf5 cannot (full disk, bad folder, name used twice).
std::vector<Hdf5Dataset> create_hdf5(const Path& path, std::span<const Hdf5Spec> specs,
                                     const Hdf5Attributes& attributes = {});

/// Reads the table of contents. `kind` is the kind of every Error thrown (checkpoint or data).
Hdf5Index read_hdf5_index(const Path& path, ErrorKind kind = ErrorKind::checkpoint);

/// True when the file starts with the HDF5 signature.
bool looks_like_hdf5(const Path& path);

} // namespace weft
