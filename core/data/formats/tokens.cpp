// SPDX-License-Identifier: Apache-2.0
// tokens: files of tokens as nanoGPT and llm.c write them, numbers of 16 or 32 bits one after the
// other. llm.c's begin with 256 numbers of 32 bits: 20240520 (16 bits) or 20240801 (32 bits), a
// version, how many tokens follow. Others are told by a JSON file of the same name beside them,
// {"dtype": "uint16", "vocab": 50257}, or by the settings.
#include "core/data/formats/format_list.h"

#include "core/base/crc32c.h"
#include "core/base/text.h"
#include "core/data/files/file_memory.h"
#include "core/data/text/encode_text.h"
#include "core/data/text/text_windows.h"
#include "core/data/text/token_windows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace weft::data {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr std::int64_t kShardHeaderBytes = 1024;
constexpr std::int32_t kShardOf16 = 20240520;
constexpr std::int32_t kShardOf32 = 20240801;
constexpr std::int64_t kMostVocabulary = 1 << 24;
constexpr std::int64_t kTokenBytesAtOnce = 8 << 20;
constexpr std::size_t kMostTokenFiles = 32; // whose largest token is remembered
constexpr std::int64_t kMostSidecarBytes = 1 << 20;

[[noreturn]] void fail_tokens(const fs::path& where, const std::string& text,
                              const std::string& hint) {
    throw Error(ErrorKind::data, where.string(), text, hint);
}

/// What a file tells of itself.
struct ShardFacts {
    std::optional<TokenWidth> width;
    std::optional<std::int64_t> vocabulary;
    std::int64_t offset = 0;
    std::optional<std::int64_t> tokens; // announced
};

std::optional<TokenWidth> width_named(const std::string& dtype) {
    return dtype == "uint16"   ? std::optional(TokenWidth::two)
           : dtype == "uint32" ? std::optional(TokenWidth::four)
                               : std::nullopt;
}

/// The JSON file beside a file, or that of its folder.
void read_sidecar(const fs::path& path, ShardFacts& facts) {
    for (const fs::path& beside :
         {fs::path(path).replace_extension(".json"), path.parent_path() / "tokens.json"}) {
        std::error_code ignored;
        if (!fs::is_regular_file(beside, ignored)) {
            continue;
        }
        const Json told =
            Json::parse(read_file(beside, kMostSidecarBytes, ErrorKind::data), nullptr, false);
        if (!told.is_object()) {
            fail_tokens(beside, "it is no JSON object",
                        R"(Write {"dtype": "uint16", "vocab": 50257}.)");
        }
        if (const auto dtype = told.find("dtype"); dtype != told.end() && dtype->is_string()) {
            facts.width = width_named(dtype->get<std::string>());
        }
        if (const auto vocab = told.find("vocab");
            vocab != told.end() && vocab->is_number_integer()) {
            facts.vocabulary = vocab->get<std::int64_t>();
        }
        return;
    }
}

ShardFacts facts_of(const fs::path& path) {
    ShardFacts out;
    const File file(path, File::Mode::read, ErrorKind::data);
    std::array<std::int32_t, 3> begin{};
    if (file.size() >= kShardHeaderBytes) {
        file.read_at(std::as_writable_bytes(std::span(begin)), 0);
    }
    if (begin[0] == kShardOf16 || begin[0] == kShardOf32) {
        out.width = begin[0] == kShardOf16 ? TokenWidth::two : TokenWidth::four;
        out.offset = kShardHeaderBytes;
        out.tokens = begin[2];
    }
    read_sidecar(path, out);
    return out;
}

/// The file itself, or those of a folder by name whose names fit.
std::vector<fs::path> shards_of(const fs::path& path, const std::string& pattern) {
    std::error_code code;
    if (fs::is_regular_file(path, code)) {
        return {path};
    }
    if (!fs::is_directory(path, code)) {
        fail_tokens(path, "there is no such file or folder", "Check data.train.path.");
    }
    std::vector<fs::path> out;
    fs::directory_iterator entry(path, code);
    for (; !code && entry != fs::directory_iterator(); entry.increment(code)) {
        if (entry->is_regular_file(code) &&
            glob_match(pattern, entry->path().filename().string())) {
            out.push_back(entry->path());
        }
    }
    if (code) {
        fail_tokens(path, "cannot list the folder: " + code.message(), "Check its permissions.");
    }
    if (out.empty()) {
        fail_tokens(path, "no file of the folder fits " + shown(pattern), "Set data.train.files.");
    }
    std::sort(out.begin(), out.end());
    return out;
}

struct Shards {
    std::vector<TokenFile> files;
    TokenWidth width = TokenWidth::two;
    std::optional<std::int64_t> vocabulary; // told by a file
    std::string names;

    std::int64_t tokens() const {
        std::int64_t out = 0;
        for (const TokenFile& file : files) {
            out += file.tokens;
        }
        return out;
    }
    std::int64_t bytes() const { return tokens() * static_cast<std::int64_t>(width); }
};

TokenFile token_file(const fs::path& path, const ShardFacts& facts, TokenWidth width) {
    const std::int64_t bytes = File(path, File::Mode::read, ErrorKind::data).size() - facts.offset;
    const auto each = static_cast<std::int64_t>(width);
    if (facts.tokens && *facts.tokens * each != bytes) {
        fail_tokens(path,
                    "its header announces " + format_thousands(*facts.tokens) + " tokens, and " +
                        format_thousands(bytes) + " bytes follow",
                    "The file is damaged or incomplete; copy or write it again.");
    }
    if (bytes % each != 0) {
        fail_tokens(path,
                    format_thousands(bytes) + " bytes are no whole number of tokens of " +
                        std::to_string(each) + " bytes",
                    "Set data.train.dtype, or copy the file again.");
    }
    return {path, facts.offset, bytes / each};
}

Shards read_shards(const fs::path& path, const Json& settings) {
    Shards out;
    const std::optional<TokenWidth> wanted = width_named(settings.at("dtype").get<std::string>());
    std::optional<TokenWidth> width = wanted;
    for (const fs::path& file : shards_of(path, settings.at("files").get<std::string>())) {
        const ShardFacts facts = facts_of(file);
        const TokenWidth own = wanted.value_or(facts.width.value_or(TokenWidth::two));
        if (width && *width != own) {
            fail_tokens(file,
                        "its tokens have " + std::to_string(static_cast<int>(own)) +
                            " bytes; those of the files before it " +
                            std::to_string(static_cast<int>(*width)),
                        "Use files of one kind (data.train.files).");
        }
        width = own;
        out.vocabulary = facts.vocabulary ? facts.vocabulary : out.vocabulary;
        out.files.push_back(token_file(file, facts, own));
        out.names += file.filename().string() + "\n";
    }
    out.width = *width;
    return out;
}

/// The largest token of all.
std::int64_t largest_token(const fs::path& path, const Shards& shards, const OpenContext& context) {
    const auto width = static_cast<std::int64_t>(shards.width);
    OpeningWatch watch(context, {.name = path.filename().string(),
                                 .unit = "tokens",
                                 .total = shards.tokens(),
                                 .total_bytes = shards.bytes()});
    std::vector<std::byte> piece;
    std::uint32_t largest = 0;
    std::int64_t before = 0;
    for (const TokenFile& file : shards.files) {
        const File open(file.path, File::Mode::read, ErrorKind::data);
        const std::int64_t bytes = file.tokens * width;
        for (std::int64_t at = 0; at < bytes; at += kTokenBytesAtOnce) {
            watch.reached((before + at) / width, before + at);
            piece.resize(static_cast<std::size_t>(std::min(kTokenBytesAtOnce, bytes - at)));
            open.read_at(piece, file.offset + at);
            for (std::size_t i = 0; i < piece.size(); i += static_cast<std::size_t>(width)) {
                std::uint32_t token = 0; // low byte first, on machines that do so too
                std::memcpy(&token, piece.data() + i, static_cast<std::size_t>(width));
                largest = std::max(largest, token);
            }
        }
        before += bytes;
    }
    return largest;
}

/// The same, read again only when a file is not what it was: plans ask for it at every edit.
std::int64_t known_largest_token(const fs::path& path, const Shards& shards,
                                 const OpenContext& context) {
    static FileMemory<std::int64_t> memory(kMostTokenFiles);
    std::string key = std::to_string(static_cast<int>(shards.width));
    std::vector<Path> paths;
    for (const TokenFile& file : shards.files) {
        key += "\n" + file.path.string();
        paths.push_back(file.path);
    }
    return *memory.get(key, paths, [&] { return largest_token(path, shards, context); });
}

std::int64_t vocabulary_of(const fs::path& path, const Shards& shards, const Json& settings,
                           const OpenContext& context, Notes& notes) {
    std::int64_t out = 0;
    if (const Json& given = settings.at("vocab"); !given.is_null()) {
        out = given.get<std::int64_t>();
    } else if (shards.vocabulary) {
        out = *shards.vocabulary;
    } else {
        out = known_largest_token(path, shards, context) + 1;
        notes.push_back(Note::decision("the largest token is " + format_thousands(out - 1) +
                                       ": the vocabulary is taken to have " +
                                       format_thousands(out) + " (data.train.vocab)"));
    }
    if (out < 1 || out > kMostVocabulary) {
        fail_tokens(path,
                    "a vocabulary of " + format_thousands(out) + " tokens; up to " +
                        format_thousands(kMostVocabulary) + " are possible",
                    "Check data.train.dtype and data.train.vocab.");
    }
    return out;
}

/// The tokenizer of the settings, or that beside the files.
std::shared_ptr<const tokenizer::Tokenizer> tokenizer_for(const fs::path& path,
                                                          const OpenContext& context) {
    const fs::path beside = tokenizer_beside(path);
    return context.tokenizer == nullptr && !beside.empty() ? known_tokenizer(beside)
                                                           : context.tokenizer;
}

SampleInfo describe_tokens(const fs::path& path, const Shards& shards, std::int64_t vocabulary,
                           const OpenContext& context) {
    const std::int64_t length = context.sequence_length;
    SampleInfo info;
    info.tokenizer = tokenizer_for(path, context);
    info.input = info.target = {ir::DType::i32, {length}};
    info.classes = vocabulary;
    info.description = path.filename().string() + ", " + format_thousands(shards.tokens()) +
                       " tokens, " + format_thousands(windows(shards.tokens(), length)) +
                       " windows of " + format_thousands(length);
    return info;
}

/// A path with its shards, of which at least one window is made.
Shards wanted_shards(const fs::path& path, const Json& settings, const OpenContext& context) {
    require_context(path, context.sequence_length);
    Shards out = read_shards(path, settings);
    if (out.tokens() <= context.sequence_length) {
        fail_tokens(path,
                    "there are " + format_thousands(out.tokens()) +
                        " tokens; one sample with context " +
                        format_thousands(context.sequence_length) + " needs " +
                        format_thousands(context.sequence_length + 1),
                    "Use more tokens or a smaller model.context.");
    }
    return out;
}

fs::path tokens_path(const Json& settings, const OpenContext& context) {
    return resolve(context.base_dir, settings.at("path").get<std::string>());
}

std::shared_ptr<const Source> open_tokens(const Json& settings, const OpenContext& context, Part,
                                          Notes& notes) {
    const fs::path path = tokens_path(settings, context);
    Shards shards = wanted_shards(path, settings, context);
    const std::int64_t length = context.sequence_length;
    const std::int64_t vocabulary = vocabulary_of(path, shards, settings, context, notes);
    SampleInfo info = describe_tokens(path, shards, vocabulary, context);
    const bool in_blocks = streams(shards.bytes(), context.cache);
    std::string fingerprint = "tokens " + std::to_string(shards.tokens()) + ", context " +
                              std::to_string(length) + ", names crc32c " +
                              std::to_string(crc32c(shards.names));
    return token_windows(run_of_files(std::move(shards.files), shards.width), length,
                         std::move(info), fingerprint, in_blocks);
}

PartOutline outline_tokens(const Json& settings, const OpenContext& context, Part, Files) {
    const fs::path path = tokens_path(settings, context);
    const Shards shards = wanted_shards(path, settings, context);
    Notes ignored;
    PartOutline out;
    const std::int64_t length = context.sequence_length;
    out.sample = describe_tokens(path, shards,
                                 vocabulary_of(path, shards, settings, context, ignored), context);
    out.samples = windows(shards.tokens(), length);
    if (streams(shards.bytes(), context.cache)) {
        out.largest_block = largest_token_block(shards.tokens(), shards.width, length);
    }
    return out;
}

config::FieldTable tokens_fields() {
    return {config::path_field("path", nullptr,
                               "File of tokens, or a folder of such files, read in sorted order.")
                .must_be_given(),
            config::text_field("files", "*.bin", "Which files of a folder, by name."),
            config::choice_field("dtype", "auto", {"auto", "uint16", "uint32"},
                                 "Of a token, low byte first; auto: as the file's header or the "
                                 "JSON file beside it says, or else uint16."),
            config::integer_field("vocab", nullptr,
                                  "Number of different tokens; null: as the JSON file says, or "
                                  "else by the largest token, for which all are read.")
                .or_null()
                .range(1, static_cast<double>(kMostVocabulary))};
}

bool is_shard(const fs::path& path) {
    if (path.extension() != ".bin") {
        return false;
    }
    const std::string stem = path.stem().string();
    const ShardFacts facts = facts_of(path);
    return facts.width.has_value() || stem == "train" || stem == "val";
}

std::vector<fs::path> bins_in(const fs::path& folder) {
    std::vector<fs::path> out;
    std::error_code code;
    for (fs::directory_iterator entry(folder, code); !code && entry != fs::directory_iterator();
         entry.increment(code)) {
        if (entry->path().extension() == ".bin" && entry->is_regular_file(code)) {
            out.push_back(entry->path());
        }
    }
    std::sort(out.begin(), out.end());
    return out;
}

bool sniff_tokens(const fs::path& path) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
        return fs::is_regular_file(path, ignored) && is_shard(path);
    }
    const std::vector<fs::path> bins = bins_in(path);
    return !bins.empty() && std::all_of(bins.begin(), bins.end(), is_shard);
}

bool tokens_have_test(const Json&, const OpenContext&) {
    return false;
}

/// Of a folder, files that are called train and val are these parts.
Json propose_tokens(const fs::path& path, const OpenContext&) {
    const auto source = [&](const char* files) {
        return Json{{"type", "tokens"}, {"path", path.string()}, {"files", files}};
    };
    Json section = {{"train", source("*.bin")}, {"validation", {{"split", 0.1}}}};
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
        return section;
    }
    const std::vector<fs::path> bins = bins_in(path);
    const auto has = [&](std::string_view pattern) {
        return std::any_of(bins.begin(), bins.end(), [&](const fs::path& file) {
            return glob_match(pattern, file.filename().string());
        });
    };
    if (has("*train*.bin")) {
        section["train"] = source("*train*.bin");
        if (has("*val*.bin")) {
            section["validation"] = source("*val*.bin");
        }
    }
    return section;
}

Look look_at_tokens(const Json& settings, const OpenContext& context) {
    const Shards shards = read_shards(tokens_path(settings, context), settings);
    Look out;
    out.summary =
        format_thousands(shards.tokens()) + " tokens of " +
        std::to_string(8 * static_cast<int>(shards.width)) + " bits" +
        (shards.files.size() > 1 ? " in " + std::to_string(shards.files.size()) + " files" : "");
    return out;
}

} // namespace

const FormatDef kTokensFormat = {.name = "tokens",
                                 .help = "Files of tokens, for language models.",
                                 .split_rule = SplitRule::by_part,
                                 .fields = tokens_fields,
                                 .sniff = sniff_tokens,
                                 .has_test = tokens_have_test,
                                 .open = open_tokens,
                                 .outline = outline_tokens,
                                 .outline_of_named_files = false,
                                 .propose = propose_tokens,
                                 .look = look_at_tokens};

} // namespace weft::data
