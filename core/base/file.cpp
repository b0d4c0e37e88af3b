// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"

#include "core/base/clock.h"
#include "core/base/stage_meter.h"
#include "core/base/text.h"

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft {
namespace {

namespace fs = std::filesystem;

std::string hint_for(int error_number) {
    switch (error_number) {
    case ENOENT: return "Check the path; nothing is there.";
    case EACCES:
    case EPERM: return "Check the permissions of the file and its folder.";
    case EEXIST: return "Choose another name; existing files are not overwritten.";
    case ENOSPC:
    case EDQUOT: return "Free some space on this volume or choose another folder.";
    case EFBIG: return "Files may not grow so large here; raise the limit with `ulimit -f`.";
    case EROFS: return "The volume is read-only; choose another folder.";
    case EISDIR: return "A file is wanted here, this is a folder.";
    case EMFILE:
    case ENFILE: return "Too many files are open; raise the limit with `ulimit -n`.";
    default: return {};
    }
}

[[noreturn]] void throw_error(ErrorKind kind, const Path& path, std::string_view what,
                              int error_number) {
    throw Error(kind, path.string(), std::string(what) + ": " + system_error_text(error_number),
                hint_for(error_number));
}

[[noreturn]] void throw_error(const Path& path, std::string_view what,
                              const std::error_code& code) {
    throw_error(ErrorKind::runtime, path, what, code.value());
}

int open_flags(File::Mode mode) {
    switch (mode) {
    case File::Mode::read: return O_RDONLY | O_NONBLOCK; // a pipe would wait for its other end
    case File::Mode::write_new: return O_WRONLY | O_CREAT | O_EXCL;
    case File::Mode::write: return O_WRONLY | O_CREAT | O_TRUNC;
    case File::Mode::read_write: return O_RDWR;
    case File::Mode::keep: return O_RDWR | O_CREAT;
    case File::Mode::append: return O_WRONLY | O_CREAT | O_APPEND;
    }
    return O_RDONLY;
}

constexpr double kMostWaitSeconds = 60;
constexpr std::chrono::milliseconds kLockPoll(2);

Path part_of(const Path& path) {
    Path part = path;
    part += ".part";
    return part;
}

Path parent_of(const Path& path) {
    return path.has_parent_path() ? path.parent_path() : Path(".");
}

} // namespace

File::File(const Path& path, Mode mode, ErrorKind kind) : path_(path), kind_(kind) {
    do {
        descriptor_ = ::open(path.c_str(), open_flags(mode) | O_CLOEXEC, 0666);
    } while (descriptor_ < 0 && errno == EINTR);
    if (descriptor_ < 0) {
        fail("cannot open");
    }
    struct stat info = {};
    if (::fstat(descriptor_, &info) == 0 && S_ISDIR(info.st_mode)) {
        ::close(std::exchange(descriptor_, -1));
        errno = EISDIR;
        fail("cannot open");
    }
    if (S_ISFIFO(info.st_mode) && mode == Mode::read) {
        ::close(std::exchange(descriptor_, -1));
        throw Error(kind_, path_.string(), "this is a pipe, and a file is wanted",
                    "Write what comes out of it to a file first.");
    }
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)), kind_(other.kind_),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

File& File::operator=(File&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(kind_, other.kind_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

File::~File() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

void File::fail(std::string_view what) const {
    throw_error(kind_, path_, what, errno);
}

int64_t File::size() const {
    struct stat info = {};
    if (::fstat(descriptor_, &info) != 0) {
        fail("cannot read the size");
    }
    return info.st_size;
}

void File::read_at(std::span<std::byte> bytes, int64_t offset) const {
    const InStage reading(Stage::read);
    size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = ::pread(descriptor_, bytes.data() + done, bytes.size() - done,
                                    offset + static_cast<int64_t>(done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            fail("cannot read");
        }
        if (got == 0) {
            throw Error(kind_, path_.string(),
                        "the file ends at byte " +
                            std::to_string(offset + static_cast<int64_t>(done)) + "; bytes up to " +
                            std::to_string(offset + static_cast<int64_t>(bytes.size())) +
                            " were expected",
                        "The file was cut short; copy or write it again.");
        }
        done += static_cast<size_t>(got);
    }
}

void File::write_at(std::span<const std::byte> bytes, int64_t offset) {
    size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t put = ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done,
                                     offset + static_cast<int64_t>(done));
        if (put < 0 && errno != EINTR) {
            fail("cannot write");
        }
        done += put > 0 ? static_cast<size_t>(put) : 0;
    }
}

void File::write(std::string_view text) {
    while (!text.empty()) {
        const ssize_t put = ::write(descriptor_, text.data(), text.size());
        if (put < 0 && errno != EINTR) {
            fail("cannot write");
        }
        text.remove_prefix(put > 0 ? static_cast<size_t>(put) : 0);
    }
}

void File::resize(int64_t bytes) {
    if (::ftruncate(descriptor_, bytes) != 0) {
        fail("cannot resize");
    }
}

bool File::try_lock() {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(descriptor_, F_OFD_SETLK, &lock) == 0) {
        return true;
    }
    if (errno != EAGAIN && errno != EACCES) {
        fail("cannot lock");
    }
    return false;
}

bool File::is_at(const Path& path) const {
    struct stat open_file {};
    struct stat named_file {};
    return ::fstat(descriptor_, &open_file) == 0 && ::stat(path.c_str(), &named_file) == 0 &&
           open_file.st_ino == named_file.st_ino && open_file.st_dev == named_file.st_dev;
}

void File::sync() {
    if (::fsync(descriptor_) != 0) {
        fail("cannot sync to the disk");
    }
}

void File::close() {
    // After EINTR Linux has closed the descriptor all the same.
    if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) {
        fail("cannot close");
    }
}

std::string read_file(const Path& path, int64_t most_bytes, ErrorKind kind) {
    const File file(path, File::Mode::read, kind);
    const int64_t bytes = file.size();
    if (bytes > most_bytes) {
        throw Error(kind, path.string(),
                    "the file has " + format_bytes(bytes) + "; at most " +
                        format_bytes(most_bytes) + " are read here",
                    "Check that this is the right file.");
    }
    std::string content(static_cast<size_t>(bytes), '\0');
    file.read_at(std::as_writable_bytes(std::span(content)), 0);
    return content;
}

std::string read_range(const File& file, int64_t from, int64_t to) {
    std::string text(static_cast<size_t>(to - from), '\0');
    file.read_at(std::as_writable_bytes(std::span(text)), from);
    return text;
}

FileReplacement::FileReplacement(const Path& path, ErrorKind kind)
    : path_(path), part_path_(part_of(path)) {
    const SystemClock clock;
    const double until_s = clock.steady_s() + kMostWaitSeconds;
    for (;;) {
        part_ = File(part_path_, File::Mode::keep, kind);
        const bool locked = part_.try_lock();
        if (locked && part_.is_at(part_path_)) { // whoever had it may have renamed it meanwhile
            break;
        }
        if (clock.steady_s() > until_s) {
            throw Error(kind, path.string(),
                        "another program has been writing this file for a minute",
                        "Wait for it, or end it; it holds a lock on " + part_path_.string() + ".");
        }
        if (!locked) {
            std::this_thread::sleep_for(kLockPoll);
        }
    }
    part_.resize(0);
}

FileReplacement::~FileReplacement() {
    if (part_.is_open()) {
        ::unlink(part_path_.c_str());
    }
}

void FileReplacement::commit() {
    part_.sync();
    if (::rename(part_path_.c_str(), path_.c_str()) != 0) {
        throw_error(ErrorKind::runtime, path_, "cannot write", errno);
    }
    part_ = File(); // the lock ends after the rename
    sync_directory(parent_of(path_));
}

void remove_stray_part(const Path& path) {
    const Path part = part_of(path);
    std::error_code code;
    if (!fs::exists(fs::symlink_status(part, code))) {
        return;
    }
    try {
        File file(part, File::Mode::read_write);
        if (file.try_lock() && file.is_at(part)) {
            ::unlink(part.c_str());
        }
    } catch (const Error&) {
        // It has just gone, or is not ours to remove.
    }
}

void write_file_atomically(const Path& path, std::string_view content) {
    FileReplacement replacement(path);
    replacement.part().write(content);
    replacement.commit();
}

void make_directories(const Path& path) {
    std::error_code code;
    fs::create_directories(path, code);
    if (code) {
        throw_error(path, "cannot create the folder", code);
    }
}

void sync_directory(const Path& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // Some network file systems refuse to sync folders; their renames are already durable.
    const bool failed = descriptor < 0 || (::fsync(descriptor) != 0 && errno != EINVAL);
    const int error_number = errno;
    if (descriptor >= 0) {
        ::close(descriptor);
    }
    if (failed) {
        throw_error(ErrorKind::runtime, path, "cannot sync the folder", error_number);
    }
}

void rename_durably(const Path& from, const Path& to) {
    if (::rename(from.c_str(), to.c_str()) != 0) {
        throw_error(ErrorKind::runtime, from, "cannot rename to " + to.string(), errno);
    }
    sync_directory(parent_of(to));
    if (parent_of(from) != parent_of(to)) {
        sync_directory(parent_of(from));
    }
}

void remove_tree(const Path& path) {
    std::error_code code;
    fs::remove_all(path, code);
    if (code) {
        throw_error(path, "cannot remove", code);
    }
}

int64_t directory_bytes(const Path& path) {
    std::error_code code;
    int64_t bytes = 0;
    fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied,
                                           code);
    for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
        std::error_code gone;
        if (entry->is_symlink(gone) || !entry->is_regular_file(gone)) {
            continue;
        }
        const auto size = entry->file_size(gone);
        bytes += gone ? 0 : static_cast<int64_t>(size);
    }
    return bytes;
}

int64_t disk_free_bytes(const Path& path) {
    std::error_code code;
    Path existing = fs::absolute(path);
    while (!fs::exists(existing, code) && existing != existing.parent_path()) {
        existing = existing.parent_path();
    }
    const fs::space_info space = fs::space(existing, code);
    if (code) {
        throw_error(existing, "cannot read the free space", code);
    }
    return static_cast<int64_t>(space.available);
}

void open_standard_descriptors() {
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
        if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) {
            ::open("/dev/null", O_RDWR); // gets the lowest free number: this one
        }
    }
}

std::string system_error_text(int error_number) {
    return std::generic_category().message(error_number);
}

} // namespace weft
