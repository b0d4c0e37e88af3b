// SPDX-License-Identifier: Apache-2.0
// jsonl: one JSON object per line, one text field of which is read. The texts become one run of
// bytes with a separator between documents: in memory (text_windows.h), or, where that is too much,
// read again from the nearest line whose place is known (token_windows.h).
#include "core/data/formats/format_list.h"

#include "core/base/crc32c.h"
#include "core/base/file.h"
#include "core/base/stage_meter.h"
#include "core/base/text.h"
#include "core/data/tables/table.h"
#include "core/data/text/json_lines.h"
#include "core/data/text/text_windows.h"
#include "core/data/text/token_windows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::data {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr std::int64_t kMarkedBytes = 256 << 10; // of text between two documents of known place

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

/// The text of a line, or why there is none.
struct LineText {
    std::string text;
    std::string problem;
};

LineText text_of(const std::string& line, const std::string& field) {
    std::optional<Json> object = object_of(line);
    if (!object) {
        return {{}, "it is no JSON object"};
    }
    const auto found = object->find(field);
    if (found == object->end() || !found->is_string()) {
        return {{}, "it has no text '" + shown(field) + "'"};
    }
    return {std::move(found->get_ref<std::string&>()), {}};
}

/// A document whose place in the file is known.
struct DocumentMark {
    std::int64_t offset = 0, number = 1; // of its line
    std::int64_t before = 0;             // bytes of text before it, without its separator
};

struct Documents {
    std::int64_t count = 0;
    std::int64_t bytes = 0; // separators included
    BadLines bad;
    std::vector<DocumentMark> marks; // the first document, and others at some distance
};

/// Calls use(text) for every document.
template <class Use>
Documents for_each_document(const JsonlSettings& settings, const OpenContext& context, Use&& use) {
    Documents out;
    OpeningWatch watch(
        context, {.name = settings.path.filename().string(),
                  .unit = "lines",
                  .total_bytes = File(settings.path, File::Mode::read, ErrorKind::data).size()});
    for_each_line(settings.path, {}, [&](const Line& line) {
        watch.reached(line.number, line.offset);
        const LineText found = text_of(line.text, settings.field);
        if (!found.problem.empty()) {
            out.bad.add(line.number, found.problem);
            return true;
        }
        if (out.marks.empty() || out.bytes - out.marks.back().before >= kMarkedBytes) {
            out.marks.push_back({line.offset, line.number, out.bytes});
        }
        out.bytes += static_cast<std::int64_t>(found.text.size()) +
                     (out.count > 0 ? static_cast<std::int64_t>(settings.separator.size()) : 0);
        ++out.count;
        use(found.text);
        return true;
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

/// The texts of all documents, parsed again where they are read.
class RunOfDocuments final : public TokenRun {
public:
    RunOfDocuments(JsonlSettings settings, std::int64_t bytes, std::vector<DocumentMark> marks)
        : settings_(std::move(settings)), bytes_(bytes), marks_(std::move(marks)) {}

    TokenWidth width() const override { return TokenWidth::byte; }
    std::int64_t tokens() const override { return bytes_; }

    void read(std::int64_t first, std::span<std::byte> out) const override {
        const InStage decoding(Stage::decode);
        const DocumentMark& mark = mark_before(first);
        bool is_first = &mark == marks_.data();
        std::int64_t at = mark.before;
        std::size_t done = 0;
        const auto add = [&](std::string_view text) {
            const std::int64_t skipped =
                std::clamp<std::int64_t>(first - at, 0, static_cast<std::int64_t>(text.size()));
            at += static_cast<std::int64_t>(text.size());
            text.remove_prefix(static_cast<std::size_t>(skipped));
            text = text.substr(0, out.size() - done);
            std::copy_n(std::as_bytes(std::span(text)).begin(), text.size(), out.begin() + done);
            done += text.size();
        };
        for_each_line(settings_.path, {.offset = mark.offset, .number = mark.number},
                      [&](const Line& line) {
                          const LineText found = text_of(line.text, settings_.field);
                          if (found.problem.empty()) {
                              add(std::exchange(is_first, false) ? "" : settings_.separator);
                              add(found.text);
                          }
                          return done < out.size();
                      });
        if (done < out.size()) {
            throw Error(ErrorKind::data, settings_.path.string(),
                        "it has fewer texts than when it was opened",
                        "Leave the file alone while it is used.");
        }
    }

    std::string place_of(std::int64_t token) const override {
        return settings_.path.string() + ", after line " +
               format_thousands(mark_before(token).number - 1);
    }

private:
    const DocumentMark& mark_before(std::int64_t byte) const {
        const auto after = std::upper_bound(
            marks_.begin(), marks_.end(), byte,
            [](std::int64_t wanted, const DocumentMark& mark) { return wanted < mark.before; });
        return *(after - 1);
    }

    JsonlSettings settings_;
    std::int64_t bytes_;
    std::vector<DocumentMark> marks_;
};

/// By the size of the file: that of its texts is known once it is read.
bool stream_documents(const JsonlSettings& settings, Cache cache) {
    return streams(File(settings.path, File::Mode::read, ErrorKind::data).size(), cache);
}

/// `content`, where it is wanted, receives all texts with the separators between them.
Documents read_documents(const JsonlSettings& settings, const OpenContext& context,
                         std::string* content) {
    bool first = true;
    return for_each_document(settings, context, [&](const std::string& text) {
        if (content != nullptr) {
            *content += std::exchange(first, false) ? "" : settings.separator;
            *content += text;
        }
    });
}

EncodedText encoded_documents(const JsonlSettings& settings, const std::string& content,
                              const OpenContext& context) {
    if (stream_documents(settings, context.cache)) {
        throw Error(ErrorKind::data, settings.path.string(),
                    "so much text is not encoded anew at every start",
                    "Use a file below " + format_bytes(kKeptBytes) +
                        ", or leave the tokenizer out.");
    }
    return encode_text(content, context, settings.path.filename().string());
}

std::shared_ptr<const Source> open_jsonl(const Json& given, const OpenContext& context, Part,
                                         Notes& notes) {
    const JsonlSettings settings = jsonl_settings(given, context);
    const std::int64_t length = context.sequence_length;
    require_context(settings.path, length);
    const bool in_blocks = stream_documents(settings, context.cache);
    std::string content;
    Documents documents = read_documents(settings, context, in_blocks ? nullptr : &content);
    tell(documents, notes);
    std::string fingerprint = "jsonl " + std::to_string(documents.count) + " documents, " +
                              std::to_string(documents.bytes) + " bytes, context " +
                              std::to_string(length);
    if (encodes(context)) {
        auto text =
            std::make_shared<const EncodedText>(encoded_documents(settings, content, context));
        return text_windows(settings.path, std::move(text), length,
                            fingerprint + tokenizer_mark(context));
    }
    if (in_blocks) {
        require_one_window(settings.path, documents.bytes, length);
        SampleInfo info = describe_windows(settings.path, documents.bytes, length);
        return token_windows(
            std::make_shared<RunOfDocuments>(settings, documents.bytes, std::move(documents.marks)),
            length, std::move(info), fingerprint, true);
    }
    content.shrink_to_fit();
    fingerprint += ", crc32c " + std::to_string(crc32c(content));
    return text_windows(settings.path, std::move(content), length, std::move(fingerprint));
}

PartOutline outline_jsonl(const Json& given, const OpenContext& context, Part, Files) {
    const JsonlSettings settings = jsonl_settings(given, context);
    const std::int64_t length = context.sequence_length;
    require_context(settings.path, length);
    if (encodes(context)) {
        std::string content;
        read_documents(settings, context, &content);
        return outline_windows(settings.path, encoded_documents(settings, content, context),
                               length);
    }
    const std::int64_t bytes = read_documents(settings, context, nullptr).bytes;
    require_one_window(settings.path, bytes, length);
    PartOutline out{describe_windows(settings.path, bytes, length), windows(bytes, length), bytes,
                    ""};
    if (stream_documents(settings, context.cache)) {
        out.cache_bytes = 0;
        out.largest_block = largest_token_block(bytes, TokenWidth::byte, length);
    }
    return out;
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
    for_each_line(path, {.end = kJsonPieceBytes}, [&](const Line& line) {
        if (const std::optional<Json> object = object_of(line.text)) {
            for (const auto& [name, value] : object->items()) {
                if (value.is_string()) {
                    bytes[name] += value.get_ref<const std::string&>().size();
                }
            }
        }
        return true;
    });
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

std::optional<Lengths> jsonl_lengths(const Json& given, const OpenContext& context) {
    const JsonlSettings settings = jsonl_settings(given, context);
    Lengths out{.things = "documents",
                .unit = encodes(context) ? "tokens" : "bytes",
                .context = context.sequence_length};
    std::vector<tokenizer::Token> tokens;
    for_each_line(settings.path, {}, [&](const Line& line) {
        end_if_stopped(context.stop);
        out.all = line.offset < kMostMeasuredBytes;
        const LineText found = out.all ? text_of(line.text, settings.field) : LineText{{}, "none"};
        if (found.problem.empty() && encodes(context)) {
            tokens.clear();
            context.tokenizer->encode(found.text, tokens);
            out.each.push_back(std::ssize(tokens));
        } else if (found.problem.empty()) {
            out.each.push_back(std::ssize(found.text));
        }
        return out.all;
    });
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
                                .look = look_at_jsonl,
                                .lengths = jsonl_lengths};

} // namespace weft::data
