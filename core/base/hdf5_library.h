// SPDX-License-Identifier: Apache-2.0
// What every use of libhdf5 goes through: its one lock, its identifiers, its errors. For
// hdf5_*.cpp only.
#pragma once

#include "core/base/hdf5_arrays.h"

#include <hdf5.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft::hdf5 {

// What a file may have; more is damage or an attack.
inline constexpr int kDeepestGroup = 32;
inline constexpr std::int64_t kMostLinks = 1'000'000;
// No filter that libhdf5 brings packs better than gzip at its best (RFC 1951).
inline constexpr std::int64_t kBestRatio = 1032;

/// Holds the library's lock and keeps it from printing to stderr.
class Library {
public:
    Library();

private:
    std::lock_guard<std::mutex> lock_;
};

/// Owns one identifier of libhdf5.
class Handle {
public:
    using Close = herr_t (*)(hid_t);

    Handle(hid_t id, Close closer) : id_(id), close_(closer) {}
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Handle& operator=(Handle&&) = delete;
    ~Handle() { close(); }

    operator hid_t() const { return id_; }
    bool valid() const { return id_ >= 0; }
    bool close() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

private:
    hid_t id_;
    Close close_;
};

/// The innermost message of the library's error stack: closest to the cause.
std::string library_reason();

struct Link {
    std::string name;
    H5L_type_t type;
};

/// The names in a group, sorted; nothing when the library cannot list them.
std::optional<std::vector<Link>> links_of(hid_t group);

/// Throws Error{data} about a file of others, or a data set in it.
[[noreturn]] void fail_foreign(const Path& path, const std::string& name, const std::string& text,
                               std::string hint);
inline constexpr const char* kUnreadableHint =
    "The file is damaged or incomplete; copy or write it again.";
inline constexpr const char* kNoFilterHint =
    "The file is damaged, or packed by a filter that libhdf5 does not have here.";

/// A file of others. Throws Error{data}.
Handle open_foreign(const Path& path);
/// A data set of it, of the shape that list_hdf5_arrays told. Throws Error{data}.
Handle open_foreign(const Handle& file, const Path& path, const Hdf5Array& array);

/// Whole numbers and reals as they are read.
hid_t memory_type(Hdf5Type type);
/// Fills shape and bytes from `type`; a reason when it cannot.
std::string read_extents(hid_t dataset, Hdf5Array& out);
/// Rows as `array.type`, through the library. False when it cannot.
bool read_rows(hid_t dataset, const Hdf5Array& array, int64_t first, int64_t count, std::byte* out);

} // namespace weft::hdf5
