// SPDX-License-Identifier: Apache-2.0
// Files: whole reads, atomic and durable writes, ranges by descriptor. Every failure is an
// Error{runtime} (or the kind that the caller gives) with the path and the system's reason.
// Free functions are safe from any thread; a File may be read by many threads, written by one.
#pragma once

#include "core/base/error.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace weft {

using Path = std::filesystem::path;

/// An open file; closed by the destructor. Move only.
class File {
public:
    enum class Mode {
        read,
        write_new,   // fails when it exists
        write,       // creates or truncates
        read_write,  // must exist
        append,      // creates; every write goes to the end
    };

    File() = default;
    File(const Path& path, Mode mode, ErrorKind kind = ErrorKind::runtime);
    File(File&& other) noexcept;
    File& operator=(File&& other) noexcept;
    ~File();

    bool is_open() const { return descriptor_ >= 0; }
    const Path& path() const { return path_; }
    int64_t size() const;

    /// Fills `bytes` from `offset`; a short file is an error that says where it ended.
    void read_at(std::span<std::byte> bytes, int64_t offset) const;
    /// Writes all of `bytes` at `offset`.
    void write_at(std::span<const std::byte> bytes, int64_t offset);
    /// Writes all of `text` at the end (Mode::append) or at the current position.
    void write(std::string_view text);
    /// Shortens or extends with zeros.
    void resize(int64_t bytes);
    /// Returns when the content is on the medium.
    void sync();
    /// Closes and reports what the system had held back; the destructor cannot.
    void close();

private:
    [[noreturn]] void fail(std::string_view what) const;

    Path path_;
    ErrorKind kind_ = ErrorKind::runtime;
    int descriptor_ = -1;
};

/// The whole file. An error when it is larger than `most_bytes`.
std::string read_file(const Path& path, int64_t most_bytes = std::numeric_limits<int64_t>::max(),
                      ErrorKind kind = ErrorKind::runtime);

/// The bytes [from, to) of a file.
std::string read_range(const File& file, int64_t from, int64_t to);

/// Readers see the old content or the new, never a part: written beside (`<name>.part`), synced,
/// renamed over, folder synced.
void write_file_atomically(const Path& path, std::string_view content);

/// mkdir -p.
void make_directories(const Path& path);
/// Makes renames and new names inside a folder durable.
void sync_directory(const Path& path);
/// rename(2) and a sync of both parent folders.
void rename_durably(const Path& from, const Path& to);
/// Removes a file or a whole tree; absent is fine.
void remove_tree(const Path& path);

/// Bytes of all regular files below a folder; what disappears meanwhile is left out.
int64_t directory_bytes(const Path& path);
/// Free bytes for an ordinary user on the volume of the nearest existing parent of `path`.
int64_t disk_free_bytes(const Path& path);

/// "No space left on device": the system's text for an error number.
std::string system_error_text(int error_number);

} // namespace weft
