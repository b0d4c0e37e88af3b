// SPDX-License-Identifier: Apache-2.0
#include "core/store/local_copy.h"

#include "core/base/error.h"

#include <cstdlib>

namespace weft::store {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostNoteBytes = 4096;

Path note_path(const Path& copy) {
    Path out = copy;
    out += ".etag";
    return out;
}

std::string note_of(const ObjectInfo& object) {
    return std::to_string(object.bytes) + " " + object.etag + "\n";
}

/// Whether a whole copy is here, by the size that its note says.
bool is_whole(const Path& copy, std::string& note) {
    std::error_code code;
    if (!fs::is_regular_file(copy, code) || !fs::is_regular_file(note_path(copy), code)) {
        return false;
    }
    if (fs::file_size(note_path(copy), code) > kMostNoteBytes) { // no note of ours
        return false;
    }
    note = read_file(note_path(copy), kMostNoteBytes);
    return note.starts_with(std::to_string(fs::file_size(copy, code)) + " ");
}

} // namespace

Path copies_folder() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    const Path base = cache != nullptr && *cache != '\0'
                          ? Path(cache)
                          : Path(home != nullptr ? home : ".") / ".cache";
    return fs::absolute(base) / "weft" / "stores";
}

Path copy_path(const Path& folder, const Address& object) {
    return (folder / object.scheme / object.bucket / object.key).lexically_normal();
}

LocalCopy local_copy(ObjectStore& store, const Address& object, const CopyOptions& options) {
    const Path path = copy_path(options.folder, object);
    std::string note;
    const bool is_here = is_whole(path, note);
    if (is_here && options.any_age) {
        return {path, ""};
    }
    std::optional<ObjectInfo> there;
    try {
        there = store.find(object.key);
    } catch (const Error& fault) {
        if (!is_here) {
            throw;
        }
        return {path, object.text() +
                          " is read from the copy on this machine; it was not asked "
                          "whether the store has a newer one: " +
                          fault.text()};
    }
    if (!there) {
        throw Error(ErrorKind::data, object.text(), "the store has no such object",
                    "Check the address; a folder cannot be read, only files.");
    }
    if (is_here && note == note_of(*there)) {
        return {path, ""};
    }
    make_directories(path.parent_path());
    if (disk_free_bytes(path) < there->bytes) {
        throw Error(ErrorKind::data, path.string(),
                    "there is no room for the copy of " + object.text(),
                    "Make room, or set XDG_CACHE_HOME to a larger disk.");
    }
    remove_tree(note_path(path));
    std::int64_t done = 0;
    store.get_file(*there, path, [&](std::int64_t bytes) {
        done += bytes;
        if (options.on_bytes) {
            options.on_bytes(done, there->bytes);
        }
    });
    write_file_atomically(note_path(path), note_of(*there));
    return {path, ""};
}

} // namespace weft::store
