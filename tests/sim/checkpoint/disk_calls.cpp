// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/checkpoint/disk_calls.h"

#include "core/base/check.h"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using weft::checkpoint::test::DiskChange, weft::checkpoint::test::Fault;

std::atomic<int> calls = std::numeric_limits<int>::min(); // counts up; the fault is at 0
std::atomic<Fault> kind_of_fault = Fault::full;

enum class Verdict { works, fails, is_short };

/// Counts a call and says how it shall go.
Verdict verdict() {
    const int number = calls.fetch_add(1);
    const Fault fault = kind_of_fault;
    if (number < 0 || (number > 0 && fault != Fault::stays_full)) {
        return Verdict::works;
    }
    if (fault == Fault::short_write) {
        return Verdict::is_short;
    }
    errno = fault == Fault::broken ? EIO : ENOSPC;
    return Verdict::fails;
}

bool fails() {
    return verdict() == Verdict::fails;
}

/// What a write that goes so takes of `size` bytes.
size_t taken(Verdict verdict, size_t size) {
    return verdict == Verdict::is_short ? (size + 1) / 2 : size;
}

template <typename Fn>
Fn* original(Fn* /*like*/, const char* name) {
    return reinterpret_cast<Fn*>(dlsym(RTLD_NEXT, name));
}

/// What a DiskRecord knows. Files and folders are known by the numbers that the disk gives them,
/// which it gives anew after a removal: whatever is created gets a number of its own here.
class Changes {
public:
    explicit Changes(const fs::path& root) { nodes_[inode(root.c_str())] = 0; }

    void created(const fs::path& path, bool is_folder) {
        const std::lock_guard guard(mutex_);
        const std::optional<int> folder = node(inode(path.parent_path().c_str()));
        if (!folder) {
            return;
        }
        const int made = ++last_;
        nodes_[inode(path.c_str())] = made;
        DiskChange& change = add(DiskChange::Kind::create, made);
        change.folder = *folder;
        change.name = path.filename();
        change.is_folder = is_folder;
    }

    void written(int file, const void* bytes, ssize_t size, off_t offset) {
        const std::lock_guard guard(mutex_);
        if (const std::optional<int> known = node(inode(file)); known && size > 0) {
            DiskChange& change = add(DiskChange::Kind::write, *known);
            change.offset = offset;
            change.bytes.assign(static_cast<const char*>(bytes), static_cast<size_t>(size));
        }
    }

    void resized(int file, off_t size) {
        const std::lock_guard guard(mutex_);
        if (const std::optional<int> known = node(inode(file))) {
            add(DiskChange::Kind::resize, *known).offset = size;
        }
    }

    void synced(int file) {
        const std::lock_guard guard(mutex_);
        if (const std::optional<int> known = node(inode(file))) {
            add(DiskChange::Kind::sync, *known);
        }
    }

    void renamed(const fs::path& from, const fs::path& to) {
        const std::lock_guard guard(mutex_);
        const std::optional<int> folder = node(inode(from.parent_path().c_str()));
        const std::optional<int> known = node(inode(to.c_str()));
        if (!folder || !known) {
            return;
        }
        const std::optional<int> new_folder = node(inode(to.parent_path().c_str()));
        WEFT_CHECK(new_folder.has_value(), "nothing leaves the watched folder");
        DiskChange& change = add(DiskChange::Kind::rename, *known);
        change.folder = *folder;
        change.name = from.filename();
        change.new_folder = *new_folder;
        change.new_name = to.filename();
    }

    void removed(ino_t folder, const fs::path& name) {
        const std::lock_guard guard(mutex_);
        if (const std::optional<int> known = node(folder)) {
            DiskChange& change = add(DiskChange::Kind::remove, 0);
            change.folder = *known;
            change.name = name;
        }
    }

    void marked(std::int64_t number) {
        const std::lock_guard guard(mutex_);
        add(DiskChange::Kind::mark, 0).offset = number;
    }

    const std::vector<DiskChange>& all() const { return all_; }

    static ino_t inode(const char* path) {
        struct stat info {};
        return ::lstat(path, &info) == 0 ? info.st_ino : 0;
    }
    static ino_t inode(int file) {
        struct stat info {};
        return ::fstat(file, &info) == 0 ? info.st_ino : 0;
    }

private:
    DiskChange& add(DiskChange::Kind kind, int node) {
        DiskChange& change = all_.emplace_back();
        change.kind = kind;
        change.node = node;
        return change;
    }

    std::optional<int> node(ino_t number) const {
        const auto found = nodes_.find(number);
        return found == nodes_.end() ? std::nullopt : std::optional(found->second);
    }

    std::mutex mutex_;
    std::map<ino_t, int> nodes_; // the newest of a number
    int last_ = 0;
    std::vector<DiskChange> all_;
};

std::unique_ptr<Changes> record; // changes while no other thread is at work

/// Whether there is nothing under this name yet.
bool is_new(const char* path) {
    struct stat info {};
    return ::lstat(path, &info) != 0;
}

int open_as(const char* call, const char* path, int flags, mode_t mode) {
    auto* const real = original(&::open, call);
    const bool creates = record && (flags & O_CREAT) != 0 && is_new(path);
    const int file = real(path, flags, mode);
    if (record && file >= 0) {
        if (creates) {
            record->created(path, false);
        } else if ((flags & O_TRUNC) != 0) {
            record->resized(file, 0);
        }
    }
    return file;
}

mode_t mode_of(int flags, va_list arguments) {
    return (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
}

int resize_as(const char* call, int file, off_t size) {
    auto* const real = original(&::ftruncate, call);
    const int result = real(file, size);
    if (record && result == 0) {
        record->resized(file, size);
    }
    return result;
}

ssize_t pwrite_as(const char* call, int file, const void* bytes, size_t size, off_t offset) {
    auto* const real = original(&::pwrite, call);
    const Verdict how = verdict();
    const ssize_t put = how == Verdict::fails ? -1 : real(file, bytes, taken(how, size), offset);
    if (record) {
        record->written(file, bytes, put, offset);
    }
    return put;
}

/// Calls `real` and writes the removal of `path` down.
template <typename Real>
int remove_as(const Real& real, ino_t folder, const fs::path& path) {
    const int result = real();
    if (record && result == 0) {
        record->removed(folder, path.filename());
    }
    return result;
}

ino_t folder_of(const char* path) {
    return record ? Changes::inode(fs::path(path).parent_path().c_str()) : 0;
}

} // namespace

// The program's definitions win over those of the C library, also for calls from other libraries,
// which see what is visible only.
#pragma GCC visibility push(default)
extern "C" {

int open(const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_as("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_as("open64", path, flags, mode);
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
    return pwrite_as("pwrite", file, bytes, size, offset);
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t offset) {
    return pwrite_as("pwrite64", file, bytes, size, offset);
}

ssize_t write(int file, const void* bytes, size_t size) {
    static auto* const real = original(&write, "write");
    const Verdict how = file > STDERR_FILENO ? verdict() : Verdict::works;
    const off_t offset = record ? ::lseek(file, 0, SEEK_CUR) : 0;
    const ssize_t put = how == Verdict::fails ? -1 : real(file, bytes, taken(how, size));
    if (record) {
        record->written(file, bytes, put, offset);
    }
    return put;
}

int ftruncate(int file, off_t size) noexcept {
    return resize_as("ftruncate", file, size);
}

int ftruncate64(int file, off64_t size) noexcept {
    return resize_as("ftruncate64", file, size);
}

int fsync(int file) {
    static auto* const real = original(&fsync, "fsync");
    const int result = fails() ? -1 : real(file);
    if (record && result == 0) {
        record->synced(file);
    }
    return result;
}

int mkdir(const char* path, mode_t mode) noexcept {
    static auto* const real = original(&mkdir, "mkdir");
    const int result = real(path, mode);
    if (record && result == 0) {
        record->created(path, true);
    }
    return result;
}

int rename(const char* from, const char* to) noexcept {
    static auto* const real = original(&rename, "rename");
    const int result = fails() ? -1 : real(from, to);
    if (record && result == 0) {
        record->renamed(from, to);
    }
    return result;
}

int unlink(const char* path) noexcept {
    static auto* const real = original(&unlink, "unlink");
    return remove_as([&] { return real(path); }, folder_of(path), path);
}

int rmdir(const char* path) noexcept {
    static auto* const real = original(&rmdir, "rmdir");
    return remove_as([&] { return real(path); }, folder_of(path), path);
}

int remove(const char* path) noexcept {
    static auto* const real = original(&remove, "remove");
    return remove_as([&] { return real(path); }, folder_of(path), path);
}

int unlinkat(int folder, const char* path, int flags) noexcept {
    static auto* const real = original(&unlinkat, "unlinkat");
    const bool relative = folder != AT_FDCWD && path[0] != '/';
    return remove_as([&] { return real(folder, path, flags); },
                     relative ? Changes::inode(folder) : folder_of(path), path);
}

} // extern "C"
#pragma GCC visibility pop

namespace weft::checkpoint::test {

DiskFault::DiskFault(int n, Fault fault) {
    kind_of_fault = fault;
    calls = -n;
}

DiskFault::~DiskFault() {
    calls = std::numeric_limits<int>::min();
}

bool DiskFault::happened() const {
    return calls > 0;
}

DiskRecord::DiskRecord(const fs::path& folder) {
    record = std::make_unique<Changes>(folder);
}

DiskRecord::~DiskRecord() {
    record.reset();
}

void DiskRecord::mark(std::int64_t number) {
    record->marked(number);
}

const std::vector<DiskChange>& DiskRecord::changes() const {
    return record->all();
}

} // namespace weft::checkpoint::test
