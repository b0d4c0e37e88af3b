// SPDX-License-Identifier: Apache-2.0
// jsonl: one JSON object per line, one text field of which is read. The texts become one run of
// bytes with a separator between documents (text_windows.h).
#include "core/data/formats/format_list.h"

#include "core/base/crc32c.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/data/tables/table.h"
#include "core/data/text_windows.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace weft::data {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr std::int64_t kLongestLine = 64 << 20;
constexpr std::int64_t kJsonlPieceBytes = 1 << 20;

/// Calls use(line, number) for every line that is not blank.
template <class Use>
void for_each_line(const fs::path& path, Use&& use,
                   std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max()) {
    const File file(path, File::Mode::read, ErrorKind::data);
    const std::int64_t end = std::min(file.size(), most_bytes);
    std::string line;
    std::string piece;
    std::int64_t number = 1;
    const auto finish = [&] {
        if (!trim(line).empty()) {
            use(line, number);
        }
        line.clear();
        ++number;
    };
    for (std::int64_t at = 0; at < end; at += static_cast<std::int64_t>(piece.size())) {
        piece.resize(static_cast<std::size_t>(std::min(kJsonlPieceBytes, end - at)));
        file.read_at(std::as_writable_bytes(std::span(piece)), at);
        std::size_t from = 0;
        for (std::size_t to = piece.find('\n'); to != std::string::npos;
             to = piece.find('\n', from)) {
            line.append(piece, from, to - from);
            finish();
            from = to + 1;
        }
        line.append(piece, from);
        if (static_cast<std::int64_t>(line.size()) > kLongestLine) {
            throw Error(ErrorKind::data, path.string() + ", line " + format_thousands(number),
                        "the line is longer than " + format_bytes(kLongestLine),
                        "Write one JSON object per line.");
        }
    }
    if (end == file.size()) {
        finish();
    }
}

/// The object of a line; nothing when it is none, or nested too deep.
std::optional<Json> object_of(const std::string& line) {
    Json value = config::json_or_discarded(line);
    return value.is_object() ? std::optional(std::move(value)) : std::nullopt;
}

struct JsonlSettings {
    fs::path path;
    std::string field;
    std::string separator;
    double most_bad = 0;
};

JsonlSettings jsonl_settings(const Json& settings, const OpenContext& context) {
    JsonlSettings out;
    out.path = resolve(context.base_dir, settings.at("path").get<std::string>());
    out.field = settings.at("text").get<std::string>();
    out.separator = settings.at("separator").get<std::string>();
    out.most_bad = settings.at("most_bad").get<double>();
    std::error_code code;
    if (!fs::is_regular_file(out.path, code)) {
        throw Error(ErrorKind::data, out.path.string(), "there is no such file",
                    "Check data.train.path.");
    }
    return out;
}

struct Documents {
    std::int64_t count = 0;
    std::int64_t bytes = 0; // separators included
    BadLines bad;
};

/// Calls use(text) for every document.
template <class Use>
Documents for_each_document(const JsonlSettings& settings, const OpenContext& context, Use&& use) {
    Documents out;
    OpeningWatch watch(
        context, {.name = settings.path.filename().string(),
                  .unit = "lines",
                  .total_bytes = File(settings.path, File::Mode::read, ErrorKind::data).size()});
    std::int64_t read_bytes = 0;
    for_each_line(settings.path, [&](const std::string& line, std::int64_t number) {
        read_bytes += static_cast<std::int64_t>(line.size()) + 1;
        watch.reached(number, read_bytes);
        const std::optional<Json> object = object_of(line);
        if (!object) {
            out.bad.add(number, "it is no JSON object");
            return;
        }
        const auto found = object->find(settings.field);
        if (found == object->end() || !found->is_string()) {
            out.bad.add(number, "it has no text '" + shown(settings.field) + "'");
            return;
        }
        const auto& text = found->get_ref<const std::string&>();
        out.bytes += static_cast<std::int64_t>(text.size()) +
                     (out.count > 0 ? static_cast<std::int64_t>(settings.separator.size()) : 0);
        ++out.count;
        use(text);
    });
    const std::int64_t all = out.count + out.bad.count;
    if (out.count == 0 ||
        static_cast<double>(out.bad.count) > settings.most_bad * static_cast<double>(all)) {
        throw Error(ErrorKind::data, settings.path.string(),
                    all == 0 ? "the file holds no lines"
                             : format_thousands(out.bad.count) + " of " + format_thousands(all) +
                                   " lines cannot be used: " + out.bad.text(),
                    "Write one JSON object per line and name its text in data.train.text.");
    }
    return out;
}

void tell(const Documents& documents, Notes& notes) {
    if (documents.bad.count > 0) {
        notes.push_back(format_thousands(documents.bad.count) +
                        (documents.bad.count == 1 ? " line is" : " lines are") +
                        " left out: " + documents.bad.text());
    }
}

std::shared_ptr<const Source> open_jsonl(const Json& given, const OpenContext& context, Part,
                                         Notes& notes) {
    const JsonlSettings settings = jsonl_settings(given, context);
    require_context(settings.path, context.sequence_length);
    std::string content;
    bool first = true;
    const Documents documents = for_each_document(settings, context, [&](const std::string& text) {
        content += std::exchange(first, false) ? "" : settings.separator;
        content += text;
    });
    tell(documents, notes);
    content.shrink_to_fit();
    std::string fingerprint = "jsonl " + std::to_string(documents.count) + " documents, " +
                              std::to_string(content.size()) + " bytes, context " +
                              std::to_string(context.sequence_length) + ", crc32c " +
                              std::to_string(crc32c(content));
    return text_windows(settings.path, std::move(content), context.sequence_length,
                        std::move(fingerprint));
}

PartOutline outline_jsonl(const Json& given, const OpenContext& context, Part, Files) {
    const JsonlSettings settings = jsonl_settings(given, context);
    const std::int64_t length = context.sequence_length;
    require_context(settings.path, length);
    const std::int64_t bytes =
        for_each_document(settings, context, [](const std::string&) {}).bytes;
    require_one_window(settings.path, bytes, length);
    return {describe_windows(settings.path, bytes, length), windows(bytes, length), bytes, ""};
}

config::FieldTable jsonl_fields() {
    return {
        config::path_field("path", nullptr, "File with one JSON object per line.").must_be_given(),
        config::text_field("text", "text", "Name of the field that holds the text."),
        config::text_field("separator", "\n\n", "Stands between two documents."),
        config::real_field("most_bad", 0.05,
                           "Share of lines without an object or without the text, up to which "
                           "they are named and left out.")
            .range(0, 1)
            .for_experts()};
}

/// The text field that holds most in the first lines; empty: there is none.
std::string longest_field(const fs::path& path) {
    std::map<std::string, std::size_t> bytes;
    for_each_line(
        path,
        [&](const std::string& line, std::int64_t) {
            if (const std::optional<Json> object = object_of(line)) {
                for (const auto& [name, value] : object->items()) {
                    if (value.is_string()) {
                        bytes[name] += value.get_ref<const std::string&>().size();
                    }
                }
            }
        },
        kJsonlPieceBytes);
    const auto longest =
        std::max_element(bytes.begin(), bytes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return longest == bytes.end() ? std::string() : longest->first;
}

bool sniff_jsonl(const fs::path& path) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) {
        return false;
    }
    const std::string ending = path.extension().string();
    return (ending == ".jsonl" || ending == ".ndjson" || ending == ".json") &&
           !longest_field(path).empty();
}

Json propose_jsonl(const fs::path& path, const OpenContext&) {
    return {{"train", {{"type", "jsonl"}, {"path", path.string()}, {"text", longest_field(path)}}},
            {"validation", {{"split", 0.1}}}};
}

Look look_at_jsonl(const Json& given, const OpenContext& context) {
    const JsonlSettings settings = jsonl_settings(given, context);
    Look out;
    const Documents documents = for_each_document(settings, context, [](const std::string&) {});
    out.summary = format_thousands(documents.count) + " documents, " +
                  format_bytes(documents.bytes) + " of text in '" + shown(settings.field) + "'";
    tell(documents, out.notes);
    return out;
}

bool jsonl_has_test(const Json&, const OpenContext&) {
    return false;
}

} // namespace

const FormatDef kJsonlFormat = {.name = "jsonl",
                                .help = "Texts in JSON objects, one per line, for language models.",
                                .split_rule = SplitRule::by_part,
                                .fields = jsonl_fields,
                                .sniff = sniff_jsonl,
                                .has_test = jsonl_has_test,
                                .open = open_jsonl,
                                .outline = outline_jsonl,
                                .outline_of_named_files = true,
                                .propose = propose_jsonl,
                                .look = look_at_jsonl};

} // namespace weft::data
