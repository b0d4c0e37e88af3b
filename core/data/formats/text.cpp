// SPDX-License-Identifier: Apache-2.0
// text: a file, or every file of a folder in sorted order, as one run of bytes. Sample i is the
// window of T + 1 bytes that starts at byte i * T: input is its first T bytes, target its last T.
// Inputs of different samples do not overlap and every byte but the first is predicted exactly
// once; what is left after the last whole window is not used. The vocabulary is the 256 byte
// values.
#include "core/data/formats/format_list.h"

#include "core/base/check.h"
#include "core/base/crc32c.h"
#include "core/base/file.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include <sys/stat.h>

namespace weft::data {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& where, const std::string& text, const std::string& hint) {
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

/// Files of a folder and its subfolders by name. A link to a file that is there under its own name
/// is skipped, and so is every further name of the same file; links to folders are not followed.
std::vector<fs::path> files_of(const fs::path& folder, std::vector<std::string>& notes) {
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
        fail(folder, "cannot list the folder: " + code.message(), "Check its permissions.");
    }
    std::sort(plain.begin(), plain.end());
    std::sort(links.begin(), links.end());
    std::set<FileIdentity> seen;
    std::vector<fs::path> kept;
    for (const std::vector<fs::path>* list : {&plain, &links}) {
        for (const fs::path& path : *list) {
            FileIdentity identity;
            if (!identify(path, identity)) {
                notes.push_back("skipped " + path.string() + ": it does not lead to a file");
            } else if (!seen.insert(identity).second) {
                notes.push_back("skipped " + path.string() +
                                ": another name of a file already read");
            } else {
                kept.push_back(path);
            }
        }
    }
    std::sort(kept.begin(), kept.end());
    return kept;
}

/// The file itself, or the files of a folder in the order in which they are read.
std::vector<fs::path> text_files(const fs::path& path, std::vector<std::string>& notes) {
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (!fs::exists(status)) {
        fail(path, "there is no such file or folder", "Check data.train.path.");
    }
    if (!fs::is_directory(status)) {
        return {path};
    }
    std::vector<fs::path> files = files_of(path, notes);
    if (files.empty()) {
        fail(path, "the folder holds no files", "Give a text file or a folder of text files.");
    }
    return files;
}

std::int64_t total_bytes(const std::vector<fs::path>& files) {
    std::int64_t bytes = 0;
    for (const fs::path& file : files) {
        bytes += File(file, File::Mode::read, ErrorKind::data).size();
    }
    return bytes;
}

void require_one_window(const fs::path& path, std::int64_t bytes, std::int64_t length) {
    if (bytes <= length) {
        fail(path,
             "the text has " + format_thousands(bytes) + " bytes; one sample with context " +
                 format_thousands(length) + " needs " + format_thousands(length + 1),
             "Use a longer text or a smaller model.context.");
    }
}

std::int64_t windows(std::int64_t bytes, std::int64_t length) {
    return (bytes - 1) / length;
}

SampleInfo describe(const fs::path& path, std::int64_t bytes, std::int64_t length) {
    SampleInfo info;
    info.input = info.target = {ir::DType::i32, {length}};
    info.classes = 256;
    info.description = path.filename().string() + ", " + format_bytes(bytes) + " of text, " +
                       format_thousands(windows(bytes, length)) + " windows of " +
                       format_thousands(length);
    return info;
}

class TextSource final : public Source {
public:
    TextSource(const fs::path& path, std::int64_t length, std::vector<std::string>& notes)
        : length_(length) {
        const std::string names = read_all(path, notes);
        const auto bytes = static_cast<std::int64_t>(content_.size());
        require_one_window(path, bytes, length);
        info_ = describe(path, bytes, length);
        fingerprint_ = "text " + std::to_string(bytes) + " bytes, context " +
                       std::to_string(length) + ", names crc32c " + std::to_string(crc32c(names)) +
                       ", crc32c " + std::to_string(crc32c(content_));
    }

    const SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override {
        return windows(static_cast<std::int64_t>(content_.size()), length_);
    }

    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        WEFT_CHECK(index >= 0 && index < samples(), "sample index within the source");
        widen(index * length_, input);
        if (!target.empty()) {
            widen(index * length_ + 1, target);
        }
    }

    std::int32_t label(std::int64_t) const override { return -1; }
    std::int64_t cache_bytes() const override {
        return static_cast<std::int64_t>(content_.capacity());
    }
    std::string fingerprint() const override { return fingerprint_; }

private:
    /// Fills content_; returns the names below `path`, one per line.
    std::string read_all(const fs::path& path, std::vector<std::string>& notes) {
        std::string names;
        const std::vector<fs::path> files = text_files(path, notes);
        content_.reserve(static_cast<std::size_t>(total_bytes(files)));
        for (const fs::path& file : files) {
            content_ += read_file(file, std::numeric_limits<std::int64_t>::max(), ErrorKind::data);
            names += file == path ? path.filename().string()
                                  : file.lexically_relative(path).string() + "\n";
        }
        return names;
    }

    void widen(std::int64_t first, std::span<std::byte> out) const {
        WEFT_CHECK(out.size() == static_cast<std::size_t>(length_) * sizeof(std::int32_t),
                   "buffer has the size of info()");
        for (std::int64_t i = 0; i < length_; ++i) {
            const std::int32_t value =
                static_cast<unsigned char>(content_[static_cast<std::size_t>(first + i)]);
            std::memcpy(out.data() + i * 4, &value, sizeof(value));
        }
    }

    std::int64_t length_;
    std::string content_;
    SampleInfo info_;
    std::string fingerprint_;
};

config::FieldTable text_fields() {
    return {config::path_field("path", nullptr,
                               "Text file, or a folder whose files are read in sorted order.")
                .must_be_given()};
}

bool sniff_text(const fs::path& path) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) {
        return false;
    }
    std::string head(4096, '\0');
    const File file(path, File::Mode::read, ErrorKind::data);
    head.resize(static_cast<std::size_t>(std::min<std::int64_t>(file.size(), 4096)));
    file.read_at(std::as_writable_bytes(std::span(head)), 0);
    // Four bytes at the end may be the first part of a longer character.
    const auto clean = [&](std::size_t cut) {
        return is_utf8(std::string_view(head).substr(0, head.size() - cut));
    };
    const bool utf8 = clean(0) || (head.size() == 4096 && (clean(1) || clean(2) || clean(3)));
    return !head.empty() && utf8 && head.find('\0') == std::string::npos;
}

bool text_has_test(const config::Json&, const OpenContext&) {
    return false;
}

fs::path path_of(const config::Json& settings, const OpenContext& context) {
    fs::path path = resolve(context.base_dir, settings.at("path").get<std::string>());
    if (context.sequence_length < 1) {
        fail(path, "text needs the context length of a language model, and this model has none",
             "Use a language model such as gpt2, or another data format.");
    }
    return path;
}

std::shared_ptr<const Source> open_text(const config::Json& settings, const OpenContext& context,
                                        Part, std::vector<std::string>& notes) {
    return std::make_shared<TextSource>(path_of(settings, context), context.sequence_length, notes);
}

PartOutline outline_text(const config::Json& settings, const OpenContext& context, Part,
                         Files files) {
    const fs::path path = path_of(settings, context);
    const std::int64_t length = context.sequence_length;
    std::error_code code;
    if (files == Files::may_be_absent && !fs::exists(path, code)) {
        return {describe(path, length + 1, length), 0, 0,
                "the text " + path.string() + " is not here: its size is not in the plan"};
    }
    std::vector<std::string> notes;
    const std::int64_t bytes = total_bytes(text_files(path, notes));
    require_one_window(path, bytes, length);
    return {describe(path, bytes, length), windows(bytes, length), bytes, ""};
}

} // namespace

const FormatDef kTextFormat = {"text",
                               "Text as bytes, for language models.",
                               SplitRule::by_part,
                               text_fields,
                               sniff_text,
                               text_has_test,
                               open_text,
                               outline_text};

} // namespace weft::data
