// SPDX-License-Identifier: Apache-2.0
// The lock of a run: an open-file-description lock of the kernel. Such a lock belongs to the open
// file and not to the process, so that two sessions of one process exclude each other too, and
// looking does not take it.
#include "core/base/file.h"
#include "core/train/control/command.h"
#include "core/train/record/run_folder.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace weft::train {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr double kStaleSeconds = 60; // a heartbeat comes every five, if steps are not longer

struct flock whole_file(short type) {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return lock;
}

std::string host_name() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown host";
}

// What the file says; without a pid when it is not written yet, or damaged.
LockInfo read_text(const fs::path& path) {
    LockInfo info;
    try {
        const Json json = config::json_or_discarded(read_file(path, 1 << 16));
        if (json.is_object()) {
            info.host = json.value("host", "");
            info.heartbeat = json.value("heartbeat", 0.0);
            info.control = json.value("control", "");
            info.pid = json.value("pid", std::int64_t{0});
            info.protocol = json.value("protocol", info.protocol);
        }
    } catch (const std::exception&) {
        info = {};
    }
    return info;
}

std::string holder(const fs::path& path) {
    const LockInfo info = read_text(path);
    return info.pid == 0 ? "another process"
                         : "process " + std::to_string(info.pid) + " on \"" + info.host + "\"";
}

// Whether `descriptor` is still the file that the path names: the holder before us removes its
// file.
bool is_current(int descriptor, const fs::path& path) {
    struct stat open_file {};
    struct stat named_file {};
    return ::fstat(descriptor, &open_file) == 0 && ::stat(path.c_str(), &named_file) == 0 &&
           open_file.st_ino == named_file.st_ino && open_file.st_dev == named_file.st_dev;
}

} // namespace

RunLock::RunLock(const fs::path& folder, std::string control)
    : path_(folder / "lock"), control_(std::move(control)) {
    take();
}

void RunLock::take() {
    for (;;) {
        descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (descriptor_ < 0) {
            throw Error(ErrorKind::runtime, path_.string(),
                        "cannot be created: " + system_error_text(errno),
                        "the run folder must be writable");
        }
        struct flock lock = whole_file(F_WRLCK);
        const bool taken = ::fcntl(descriptor_, F_OFD_SETLK, &lock) == 0;
        if (taken && is_current(descriptor_, path_)) {
            break;
        }
        const std::string who = taken ? std::string() : holder(path_);
        ::close(descriptor_);
        descriptor_ = -1;
        if (!taken) {
            throw Error(ErrorKind::runtime, path_.parent_path().string(),
                        "the run is being trained by " + who,
                        "stop it there first, or fork the run from one of its checkpoints");
        }
    }
    beat();
}

RunLock::~RunLock() {
    if (descriptor_ >= 0) {
        if (is_current(descriptor_, path_)) {
            ::unlink(path_.c_str());
        }
        ::close(descriptor_);
    }
}

void RunLock::beat() {
    Json json = {
        {"pid", ::getpid()}, {"host", host_name()}, {"heartbeat", SystemClock().epoch_s()}};
    if (!control_.empty()) {
        json["control"] = control_;
        json["protocol"] = kControlProtocol;
    }
    const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    // Same length or longer each time; a failing write costs only the text, never the lock.
    if (::pwrite(descriptor_, text.data(), text.size(), 0) >= 0) {
        [[maybe_unused]] const int cut = ::ftruncate(descriptor_, static_cast<off_t>(text.size()));
    }
}

RunLock::Place RunLock::place() const {
    if (is_current(descriptor_, path_)) {
        return Place::ours;
    }
    // A save that was on its way may have begun the folder anew: that is no run.
    std::error_code problem;
    return fs::exists(path_, problem) || is_run_folder(path_.parent_path()) ? Place::of_another
                                                                            : Place::gone;
}

void RunLock::check() const {
    if (place() == Place::of_another) {
        throw Error(ErrorKind::runtime, path_.parent_path().string(),
                    "the folder is not of this run any more: another run was begun there, or its "
                    "lock was taken away. Nothing is written into it",
                    "move the other run away and put this run's folder back");
    }
}

void RunLock::claim() {
    check();
    if (place() == Place::gone) {
        make_directories(path_.parent_path());
        ::close(std::exchange(descriptor_, -1));
        take();
    }
}

std::optional<LockInfo> read_lock(const fs::path& folder) {
    const fs::path path = folder / "lock";
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return std::nullopt;
    }
    struct flock lock = whole_file(F_RDLCK);
    const bool held = ::fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    ::close(descriptor);
    LockInfo info = read_text(path);
    // The kernel of this host may not see locks of another one.
    const bool elsewhere = info.pid != 0 && info.host != host_name() &&
                           SystemClock().epoch_s() - info.heartbeat < kStaleSeconds;
    return held || elsewhere ? std::optional(std::move(info)) : std::nullopt;
}

bool is_live(const fs::path& folder) {
    return read_lock(folder).has_value();
}

} // namespace weft::train
