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
        write_new,  // fails when it exists
        write,      // creates or truncates
        read_write, // must exist
        append,     // creates; every write goes to the end
        keep,       // creates; what is there stays
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
    /// Locks the open file against other lockers, also of this process, until it is closed. False
    /// when another has the lock.
    bool try_lock();
    /// Whether `path` names this very file.
    bool is_at(const Path& path) const;
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

/// The right to replace a file. Of those who want it for the same file one at a time has it, among
/// processes too: whoever changes a part of what is there takes it before reading. Readers see the
/// old content or the new: it is written beside (`<name>.part`, which is locked), synced, renamed
/// over, folder synced. What a killed process left of it is in nobody's way.
class FileReplacement {
public:
    /// Waits. An error when another has had the right for a minute.
    explicit FileReplacement(const Path& path, ErrorKind kind = ErrorKind::runtime);
    ~FileReplacement(); // not committed: the file stays as it was
    FileReplacement(const FileReplacement&) = delete;
    FileReplacement& operator=(const FileReplacement&) = delete;

    /// Where the new content goes; empty at first.
    File& part() { return part_; }
    void commit();

private:
    Path path_;
    Path part_path_;
    File part_;
};
/// Removes what a killed process left of the replacement of a file; not what a living one writes.
void remove_stray_part(const Path& path);

/// Replaces a file by a FileReplacement.
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

/// Those of standard input, output and error that are closed lead to /dev/null from now on: no file
/// or socket gets their numbers, which messages are written to. First thing in main().
void open_standard_descriptors();

/// "No space left on device": the system's text for an error number.
std::string system_error_text(int error_number);

} // namespace weft
