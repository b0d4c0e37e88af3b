// SPDX-License-Identifier: Apache-2.0
// Stands between this test program and the system's calls that change a disk. The n-th of them can
// be made to go wrong, as on a full or broken disk; or what they change is written down, so that a
// power cut can be played through (power_cut.h). Standard streams are left alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace weft::checkpoint::test {

enum class Fault {
    full,       // "no space left on device"
    stays_full, // from then on
    broken,     // "input/output error"
    short_write // half of the bytes are written, which is no error
};

/// While it lives the n-th call (from 0) goes wrong.
class DiskFault {
public:
    DiskFault(int n, Fault fault);
    ~DiskFault();
    DiskFault(const DiskFault&) = delete;
    DiskFault& operator=(const DiskFault&) = delete;

    /// Whether there were enough calls for the fault to happen.
    bool happened() const;
};

/// A change of files or folders, which go by numbers; the watched folder is 0.
struct DiskChange {
    enum class Kind : std::uint8_t {
        create, // `node` gets `name` in `folder`
        write,  // of `bytes` at `offset` of `node`
        resize, // of `node` to `offset`
        sync,   // of `node`: what was changed in it before is on the medium
        rename, // `node`, `name` in `folder`, becomes `new_name` in `new_folder`
        remove, // `name` from `folder`
        mark    // the test itself says so: `offset`
    };
    Kind kind = Kind::mark;
    int node = 0;
    int folder = 0;
    std::string name{};
    int new_folder = 0;
    std::string new_name{};
    std::int64_t offset = 0;
    std::string bytes{};
    bool is_folder = false; // what is created
};

/// Writes down the changes below a folder, which is empty at first. One lives at a time.
class DiskRecord {
public:
    explicit DiskRecord(const std::filesystem::path& folder);
    ~DiskRecord();
    DiskRecord(const DiskRecord&) = delete;
    DiskRecord& operator=(const DiskRecord&) = delete;

    void mark(std::int64_t number);
    /// What happened so far. Nothing may be under way.
    const std::vector<DiskChange>& changes() const;
};

} // namespace weft::checkpoint::test
