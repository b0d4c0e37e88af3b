// SPDX-License-Identifier: Apache-2.0
#include "core/data/text/text_files.h"

#include "core/base/error.h"

#include <algorithm>
#include <set>
#include <utility>

#include <sys/stat.h>

namespace weft::data {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void throw_at(const fs::path& where, const std::string& text,
                           const std::string& hint) {
    throw Error(ErrorKind::data, where.string(), text, hint);
}

using FileIdentity = std::pair<dev_t, ino_t>;

/// Device and inode of what a name leads to, and whether that is a regular file.
bool identify(const fs::path& path, FileIdentity& identity) {
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
        return false;
    }
    identity = {info.st_dev, info.st_ino};
    return true;
}

} // namespace

std::vector<fs::path> files_below(const fs::path& folder, Notes& notes) {
    std::vector<fs::path> plain;
    std::vector<fs::path> links;
    std::error_code code;
    fs::recursive_directory_iterator entry(folder, code);
    for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
        if (entry->path().filename().string().front() == '.') {
            entry.disable_recursion_pending();
        } else if (entry->is_symlink()) {
            links.push_back(entry->path());
        } else if (entry->is_regular_file()) {
            plain.push_back(entry->path());
        }
    }
    if (code) {
        throw_at(folder, "cannot list the folder: " + code.message(), "Check its permissions.");
    }
    std::sort(plain.begin(), plain.end());
    std::sort(links.begin(), links.end());
    std::set<FileIdentity> seen;
    std::vector<fs::path> kept;
    std::string again; // names
    for (const std::vector<fs::path>* list : {&plain, &links}) {
        for (const fs::path& path : *list) {
            FileIdentity identity;
            if (!identify(path, identity)) {
                notes.push_back("skipped " + path.string() + ": it does not lead to a file");
            } else if (!seen.insert(identity).second) {
                again += (again.empty() ? "" : ", ") + path.filename().string();
            } else {
                kept.push_back(path);
            }
        }
    }
    if (!again.empty()) {
        notes.push_back(folder.string() + ": read once, further names of the same files: " + again);
    }
    std::sort(kept.begin(), kept.end());
    return kept;
}

std::vector<fs::path> text_files(const fs::path& path, Notes& notes) {
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (!fs::exists(status)) {
        throw_at(path, "there is no such file or folder", "Check data.train.path.");
    }
    if (!fs::is_directory(status)) {
        return {path};
    }
    std::vector<fs::path> files = files_below(path, notes);
    if (files.empty()) {
        throw_at(path, "the folder holds no files", "Give a text file or a folder of text files.");
    }
    return files;
}

} // namespace weft::data
