// SPDX-License-Identifier: Apache-2.0
// What was learnt from files, kept as long as they are as they were: a plan after every edit asks
// for the outline of the same table again and again.
#pragma once

#include "core/base/file.h"

#include <algorithm>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace weft::data {

/// What tells a file from what it was before.
struct FileStamp {
    std::uint64_t device = 0, inode = 0;
    std::int64_t size = 0;
    std::int64_t changed_ns = 0; // its modification time

    friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// Nothing for what is no regular file, and for one that was written in the last two seconds: it
/// could be written again without a change of its stamp.
std::optional<FileStamp> stamp_of(const Path& path);

/// The newest few of what was asked for. Any thread; what is not here is made without a lock.
template <class T>
class FileMemory {
public:
    explicit FileMemory(std::size_t most) : most_(most) {}

    /// What `make` returns, or returned before for the same key while all files were as they are
    /// now. `key`: everything else that it depends on.
    template <class Make>
    std::shared_ptr<const T> get(const std::string& key, const std::vector<Path>& files,
                                 Make&& make) {
        const std::vector<std::optional<FileStamp>> stamps = stamps_of(files);
        const bool settled = std::all_of(stamps.begin(), stamps.end(),
                                         [](const auto& stamp) { return stamp.has_value(); });
        if (settled) {
            if (auto known = find(key, stamps)) {
                return known;
            }
        }
        auto made = std::make_shared<const T>(make());
        if (settled && stamps_of(files) == stamps) { // else it changed while it was read
            const std::lock_guard guard(mutex_);
            entries_.push_front({key, stamps, made});
            entries_.resize(std::min(entries_.size(), most_));
        }
        return made;
    }

private:
    struct Entry {
        std::string key;
        std::vector<std::optional<FileStamp>> stamps;
        std::shared_ptr<const T> value;
    };

    static std::vector<std::optional<FileStamp>> stamps_of(const std::vector<Path>& files) {
        std::vector<std::optional<FileStamp>> out;
        for (const Path& file : files) {
            out.push_back(stamp_of(file));
        }
        return out;
    }

    std::shared_ptr<const T> find(const std::string& key,
                                  const std::vector<std::optional<FileStamp>>& stamps) {
        const std::lock_guard guard(mutex_);
        for (auto at = entries_.begin(); at != entries_.end(); ++at) {
            if (at->key == key && at->stamps == stamps) {
                entries_.splice(entries_.begin(), entries_, at);
                return entries_.front().value;
            }
        }
        return nullptr;
    }

    const std::size_t most_;
    std::mutex mutex_;
    std::list<Entry> entries_; // the newest first
};

} // namespace weft::data
