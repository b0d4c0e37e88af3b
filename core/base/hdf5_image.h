// SPDX-License-Identifier: Apache-2.0
// A file that libhdf5 builds in memory: what it writes is kept in pages until the finished file is
// stored. libhdf5 never sees a failed write, which it survives neither in its caches nor at exit; a
// full disk is met by our own File. Private to hdf5_file.cpp, which holds the library's lock.
#pragma once

#include "core/base/file.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include <hdf5.h>

namespace weft {

/// Holds written pages only: space that libhdf5 sets aside for payload costs nothing.
class Hdf5Image {
public:
    /// Creates the file in this image. The image must outlive it. A negative identifier on failure.
    hid_t create(hid_t creation, hid_t access);
    /// Writes the closed file to `path`, which must not exist. Throws weft::Error{checkpoint}.
    void store(const Path& path) const;

    void write(std::uint64_t at, std::size_t bytes, const void* from);
    void read(std::uint64_t at, std::size_t bytes, void* into) const; // never written: zeros

    std::uint64_t allocated = 0; // what libhdf5 has set aside
    std::uint64_t end = 0;       // of the file

private:
    static constexpr std::uint64_t kPageBytes = 4096;
    using Page = std::array<std::byte, kPageBytes>;
    std::map<std::uint64_t, Page> pages_; // by index
};

} // namespace weft
