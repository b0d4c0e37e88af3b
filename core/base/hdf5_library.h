// SPDX-License-Identifier: Apache-2.0
// What every use of libhdf5 goes through: its one lock, its identifiers, its errors. For
// hdf5_*.cpp only.
#pragma once

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

} // namespace weft::hdf5
