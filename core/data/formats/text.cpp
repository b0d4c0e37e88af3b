// SPDX-License-Identifier: Apache-2.0
// text: a file, or every file of a folder in sorted order, as one run of bytes: in memory
// (text_windows.h), or read block by block (token_windows.h).
#include "core/data/formats/format_list.h"

#include "core/base/crc32c.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/data/files/file_memory.h"
#include "core/data/text/text_files.h"
#include "core/data/text/text_windows.h"
#include "core/data/text/token_windows.h"

#include <algorithm>
#include <cstring>

namespace weft::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kTextPieceBytes = 8 << 20;

[[noreturn]] void fail_text(const fs::path& where, const std::string& text,
                            const std::string& hint) {
    throw Error(ErrorKind::data, where.string(), text, hint);
}

std::vector<TokenFile> sizes_of(const std::vector<fs::path>& files) {
    std::vector<TokenFile> out;
    for (const fs::path& file : files) {
        out.push_back({file, 0, File(file, File::Mode::read, ErrorKind::data).size()});
    }
    return out;
}

std::int64_t total_bytes(const std::vector<fs::path>& files) {
    std::int64_t bytes = 0;
    for (const TokenFile& file : sizes_of(files)) {
        bytes += file.tokens;
    }
    return bytes;
}

/// Names of files below `path`, one per line.
std::string listed_names(const std::vector<fs::path>& files, const fs::path& path) {
    std::string out;
    for (const fs::path& file : files) {
        out +=
            file == path ? path.filename().string() : file.lexically_relative(path).string() + "\n";
    }
    return out;
}

/// The content of all files.
std::string read_all(const fs::path& path, const std::vector<fs::path>& files,
                     const OpenContext& context) {
    std::string content;
    const std::int64_t bytes = total_bytes(files);
    content.reserve(static_cast<std::size_t>(bytes));
    OpeningWatch watch(context, {.name = path.filename().string(),
                                 .unit = "files",
                                 .total = static_cast<std::int64_t>(files.size()),
                                 .total_bytes = bytes});
    for (const fs::path& file : files) {
        const File open(file, File::Mode::read, ErrorKind::data);
        for (std::int64_t at = 0; at < open.size();) {
            const std::int64_t piece = std::min(kTextPieceBytes, open.size() - at);
            content.resize(content.size() + static_cast<std::size_t>(piece));
            open.read_at(
                std::as_writable_bytes(std::span(content).last(static_cast<std::size_t>(piece))),
                at);
            at += piece;
            watch.reached(&file - files.data(), static_cast<std::int64_t>(content.size()));
        }
    }
    return content;
}

/// The tokens of all files, kept for train, validation and test of one run: a plan after every edit
/// asks for all three.
std::shared_ptr<const EncodedText> encoded(const fs::path& path, const std::vector<fs::path>& files,
                                           const OpenContext& context) {
    static FileMemory<EncodedText> memory(3);
    const std::int64_t bytes = total_bytes(files);
    if (streams(bytes, context.cache)) {
        fail_text(path, format_bytes(bytes) + " of text are not encoded anew at every start",
                  "Write its tokens once: weft data tokens " + path.string() +
                      " --tokenizer FILE --to FOLDER, and train on that folder.");
    }
    const std::string key =
        path.string() + "\n" +
        std::to_string(reinterpret_cast<std::uintptr_t>(context.tokenizer.get()));
    return memory.get(key, files, [&] {
        return encode_text(read_all(path, files, context), context, path.filename().string());
    });
}

config::FieldTable text_fields() {
    return {config::path_field("path", nullptr,
                               "Text file, or a folder whose files are read in sorted order.")
                .must_be_given()};
}

// What is not written but controls: old terminals' codes stand in texts now and then, files of
// programs are full of them.
bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && std::strchr("\t\n\v\f\r\x1b", c) == nullptr) || byte == 0x7f ||
           byte == 0;
}

bool is_text_file(const fs::path& path) {
    constexpr std::ptrdiff_t kMostControls = 100; // one in so many
    std::string head(4096, '\0');
    const File file(path, File::Mode::read, ErrorKind::data);
    head.resize(static_cast<std::size_t>(std::min<std::int64_t>(file.size(), 4096)));
    file.read_at(std::as_writable_bytes(std::span(head)), 0);
    // Four bytes at the end may be the first part of a longer character.
    const auto clean = [&](std::size_t cut) {
        return is_utf8(std::string_view(head).substr(0, head.size() - cut));
    };
    const bool utf8 = clean(0) || (head.size() == 4096 && (clean(1) || clean(2) || clean(3)));
    const auto controls = std::count_if(head.begin(), head.end(), is_control);
    return !head.empty() && utf8 && head.find('\0') == std::string::npos &&
           controls <= std::ssize(head) / kMostControls;
}

/// Of a folder, the first files tell.
bool sniff_text(const fs::path& path) {
    constexpr std::size_t kLookedAt = 20;
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
        return fs::is_regular_file(path, ignored) && is_text_file(path);
    }
    Notes notes;
    std::vector<fs::path> files = files_below(path, notes);
    files.resize(std::min(files.size(), kLookedAt));
    return !files.empty() && std::all_of(files.begin(), files.end(), is_text_file);
}

bool text_has_test(const config::Json&, const OpenContext&) {
    return false;
}

fs::path text_path(const config::Json& settings, const OpenContext& context) {
    fs::path path = resolve(context.base_dir, settings.at("path").get<std::string>());
    require_context(path, context.sequence_length);
    return path;
}

std::shared_ptr<const Source> open_text(const config::Json& settings, const OpenContext& context,
                                        Part, Notes& notes) {
    const fs::path path = text_path(settings, context);
    const std::int64_t length = context.sequence_length;
    const std::vector<fs::path> files = text_files(path, notes);
    const std::int64_t bytes = total_bytes(files);
    std::string fingerprint = "text " + std::to_string(bytes) + " bytes, context " +
                              std::to_string(length) + ", names crc32c " +
                              std::to_string(crc32c(listed_names(files, path)));
    if (encodes(context)) {
        return text_windows(path, encoded(path, files, context), length,
                            fingerprint + tokenizer_mark(context));
    }
    if (streams(bytes, context.cache)) {
        require_one_window(path, bytes, length);
        return token_windows(run_of_files(sizes_of(files), TokenWidth::byte), length,
                             describe_windows(path, bytes, length), fingerprint, true);
    }
    std::string content = read_all(path, files, context);
    fingerprint += ", crc32c " + std::to_string(crc32c(content));
    return text_windows(path, std::move(content), length, std::move(fingerprint));
}

PartOutline outline_text(const config::Json& settings, const OpenContext& context, Part,
                         Files files) {
    const fs::path path = text_path(settings, context);
    const std::int64_t length = context.sequence_length;
    std::error_code code;
    if (files == Files::may_be_absent && !fs::exists(path, code)) {
        return {describe_windows(path, length + 1, length), 0, 0,
                "the text " + path.string() + " is not here: its size is not in the plan"};
    }
    Notes notes;
    const std::vector<fs::path> all = text_files(path, notes);
    if (encodes(context)) {
        return outline_windows(path, *encoded(path, all, context), length);
    }
    const std::int64_t bytes = total_bytes(all);
    require_one_window(path, bytes, length);
    PartOutline out{describe_windows(path, bytes, length), windows(bytes, length), bytes, ""};
    if (streams(bytes, context.cache)) {
        out.cache_bytes = 0;
        out.largest_block = largest_token_block(bytes, TokenWidth::byte, length);
    }
    return out;
}

config::Json propose_text(const fs::path& path, const OpenContext&) {
    return {{"train", {{"type", "text"}, {"path", path.string()}}},
            {"validation", {{"split", 0.1}}}};
}

Look look_at_text(const config::Json& settings, const OpenContext& context) {
    Look out;
    const std::vector<fs::path> files = text_files(text_path(settings, context), out.notes);
    out.summary = format_bytes(total_bytes(files)) + " of text" +
                  (files.size() > 1 ? " in " + std::to_string(files.size()) + " files" : "");
    return out;
}

/// Of the files of a folder; one file is one run of text.
std::optional<Lengths> text_lengths(const config::Json& settings, const OpenContext& context) {
    Notes ignored;
    const fs::path path = text_path(settings, context);
    const std::vector<fs::path> files = text_files(path, ignored);
    if (files.size() == 1 && files.front() == path) {
        return std::nullopt;
    }
    Lengths out{.things = "files",
                .unit = encodes(context) ? "tokens" : "bytes",
                .context = context.sequence_length};
    std::int64_t bytes = 0;
    for (const fs::path& file : files) {
        end_if_stopped(context.stop);
        if (!encodes(context)) {
            out.each.push_back(total_bytes({file})); // nothing is read for it
            continue;
        }
        out.all = bytes < kMostMeasuredBytes;
        if (!out.all) {
            break;
        }
        const std::string content = read_all(file, {file}, context);
        bytes += std::ssize(content);
        out.each.push_back(
            std::ssize(encode_text(content, context, file.filename().string()).tokens));
    }
    return out;
}

} // namespace

const FormatDef kTextFormat = {.name = "text",
                               .help = "Text, for language models.",
                               .split_rule = SplitRule::by_part,
                               .fields = text_fields,
                               .sniff = sniff_text,
                               .has_test = text_has_test,
                               .open = open_text,
                               .outline = outline_text,
                               .propose = propose_text,
                               .look = look_at_text,
                               .lengths = text_lengths};

} // namespace weft::data
