// SPDX-License-Identifier: Apache-2.0
// The virtual file driver (VFD) interface of libhdf5 over Hdf5Image.
#include "core/base/hdf5_image.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

namespace weft {
namespace {

/// What libhdf5 hands around as an open file; its own part must come first.
struct OpenImage {
    H5FD_t common{};
    Hdf5Image* image = nullptr;
};

Hdf5Image& image_of(const H5FD_t* file) {
    return *reinterpret_cast<const OpenImage*>(file)->image;
}

H5FD_t* open_image(const char*, unsigned, hid_t access, haddr_t) {
    const auto* image = static_cast<Hdf5Image* const*>(H5Pget_driver_info(access));
    auto* file = image == nullptr ? nullptr : new (std::nothrow) OpenImage{{}, *image};
    return reinterpret_cast<H5FD_t*>(file);
}

herr_t close_image(H5FD_t* file) {
    delete reinterpret_cast<OpenImage*>(file);
    return 0;
}

int compare_images(const H5FD_t* a, const H5FD_t* b) {
    const Hdf5Image* first = &image_of(a);
    const Hdf5Image* second = &image_of(b);
    return first == second ? 0 : std::less<>()(first, second) ? -1 : 1;
}

herr_t query_image(const H5FD_t*, unsigned long* flags) {
    *flags = H5FD_FEAT_DEFAULT_VFD_COMPATIBLE; // any program can open the stored file
    return 0;
}

haddr_t allocated_bytes(const H5FD_t* file, H5FD_mem_t) {
    return image_of(file).allocated;
}

herr_t set_allocated_bytes(H5FD_t* file, H5FD_mem_t, haddr_t bytes) {
    image_of(file).allocated = bytes;
    return 0;
}

haddr_t file_bytes(const H5FD_t* file, H5FD_mem_t) {
    return image_of(file).end;
}

herr_t read_image(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, size_t bytes, void* into) {
    image_of(file).read(at, bytes, into);
    return 0;
}

herr_t write_image(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, size_t bytes, const void* from) {
    try {
        image_of(file).write(at, bytes, from);
        return 0;
    } catch (const std::bad_alloc&) {
        return -1; // no exception may cross the C library
    }
}

herr_t truncate_image(H5FD_t* file, hid_t, hbool_t) {
    image_of(file).end = image_of(file).allocated;
    return 0;
}

/// Registered once for the life of the process.
hid_t driver() {
    static const hid_t id = [] {
        H5FD_class_t record{};
        record.name = "weft image";
        record.maxaddr = std::numeric_limits<std::int64_t>::max();
        record.fc_degree = H5F_CLOSE_STRONG;
        record.fapl_size = sizeof(Hdf5Image*);
        record.open = open_image;
        record.close = close_image;
        record.cmp = compare_images;
        record.query = query_image;
        record.get_eoa = allocated_bytes;
        record.set_eoa = set_allocated_bytes;
        record.get_eof = file_bytes;
        record.read = read_image;
        record.write = write_image;
        record.truncate = truncate_image;
        constexpr H5FD_mem_t kOneRegion[] = H5FD_FLMAP_SINGLE;
        std::copy(std::begin(kOneRegion), std::end(kOneRegion), record.fl_map);
        return H5FDregister(&record);
    }();
    return id;
}

} // namespace

hid_t Hdf5Image::create(hid_t creation, hid_t access) {
    Hdf5Image* self = this;
    if (H5Pset_driver(access, driver(), &self) < 0) {
        return H5I_INVALID_HID;
    }
    return H5Fcreate("image", H5F_ACC_TRUNC, creation, access);
}

void Hdf5Image::store(const Path& path) const {
    File file(path, File::Mode::write_new, ErrorKind::checkpoint);
    file.resize(static_cast<std::int64_t>(end));
    for (const auto& [index, page] : pages_) {
        const std::uint64_t at = index * kPageBytes;
        const std::uint64_t bytes = at < end ? std::min(kPageBytes, end - at) : 0;
        file.write_at(std::span(page).first(bytes), static_cast<std::int64_t>(at));
    }
    file.close();
}

void Hdf5Image::write(std::uint64_t at, std::size_t bytes, const void* from) {
    const auto* next = static_cast<const std::byte*>(from);
    end = std::max(end, at + bytes);
    while (bytes > 0) {
        const std::uint64_t within = at % kPageBytes;
        const std::size_t part = std::min<std::size_t>(bytes, kPageBytes - within);
        std::memcpy(pages_[at / kPageBytes].data() + within, next, part);
        at += part;
        next += part;
        bytes -= part;
    }
}

void Hdf5Image::read(std::uint64_t at, std::size_t bytes, void* into) const {
    auto* next = static_cast<std::byte*>(into);
    while (bytes > 0) {
        const std::uint64_t within = at % kPageBytes;
        const std::size_t part = std::min<std::size_t>(bytes, kPageBytes - within);
        const auto page = pages_.find(at / kPageBytes);
        if (page == pages_.end()) {
            std::memset(next, 0, part);
        } else {
            std::memcpy(next, page->second.data() + within, part);
        }
        at += part;
        next += part;
        bytes -= part;
    }
}

} // namespace weft
