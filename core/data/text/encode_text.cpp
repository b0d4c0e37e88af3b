// SPDX-License-Identifier: Apache-2.0
#include "core/data/text/encode_text.h"

#include "core/base/crc32c.h"
#include "core/base/machine.h"
#include "core/base/on_threads.h"
#include "core/data/files/file_memory.h"
#include "core/data/formats/format.h"
#include "core/tokenizer/sentencepiece.h"
#include "core/tokenizer/tokenizer_file.h"

#include <algorithm>

namespace weft::data {
namespace {

constexpr std::size_t kStretchBytes = 1 << 20;
constexpr std::size_t kMostTokenizers = 4;

bool is_white(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r') || static_cast<unsigned char>(c) >= 0x80;
}

/// Ends of stretches, the last one that of the text.
std::vector<std::size_t> stretch_ends(std::string_view text) {
    std::vector<std::size_t> out;
    for (std::size_t from = 0; from < text.size();) {
        std::size_t end = std::min(from + kStretchBytes, text.size());
        while (end < text.size() && (text[end - 1] != '\n' || is_white(text[end]))) {
            const std::size_t line = text.find('\n', end);
            end = line == text.npos ? text.size() : line + 1;
        }
        out.push_back(end);
        from = end;
    }
    return out;
}

} // namespace

EncodedText encode_text(std::string_view text, const OpenContext& context, const std::string& name,
                        TextStart start) {
    const auto* pieces = dynamic_cast<const tokenizer::SentencePiece*>(context.tokenizer.get());
    EncodedText out{context.tokenizer, static_cast<std::int64_t>(text.size()), {}};
    const std::vector<std::size_t> ends = stretch_ends(text);
    const auto threads = static_cast<std::size_t>(std::max(1, read_machine().usable_cores));
    OpeningWatch watch(context, {.name = name, .unit = "tokens", .total_bytes = out.bytes});
    std::vector<std::vector<tokenizer::Token>> parts(threads);
    for (std::size_t first = 0; first < ends.size(); first += threads) {
        const std::size_t count = std::min(threads, ends.size() - first);
        for_each_on(static_cast<int>(threads), count, [&](std::size_t i) {
            const std::size_t from = first + i == 0 ? 0 : ends[first + i - 1];
            parts[i].clear();
            const std::string_view stretch = text.substr(from, ends[first + i] - from);
            if (pieces != nullptr && (from > 0 || start == TextStart::further)) {
                pieces->encode_further(stretch, parts[i]);
            } else {
                context.tokenizer->encode(stretch, parts[i]);
            }
        });
        for (std::size_t i = 0; i < count; ++i) {
            out.tokens.insert(out.tokens.end(), parts[i].begin(), parts[i].end());
        }
        watch.reached(std::ssize(out.tokens), static_cast<std::int64_t>(ends[first + count - 1]));
    }
    out.tokens.shrink_to_fit();
    return out;
}

std::size_t last_stretch_end(std::string_view text) {
    for (std::size_t line = text.rfind('\n'); line != text.npos && line > 0;
         line = text.rfind('\n', line - 1)) {
        if (line + 1 < text.size() && !is_white(text[line + 1])) {
            return line + 1;
        }
    }
    return 0;
}

bool encodes(const OpenContext& context) {
    return context.tokenizer != nullptr && !context.tokenizer->document().empty();
}

std::string tokenizer_mark(const OpenContext& context) {
    return ", tokenizer crc32c " + std::to_string(crc32c(context.tokenizer->document()));
}

std::shared_ptr<const tokenizer::Tokenizer> known_tokenizer(const std::filesystem::path& path) {
    static FileMemory<std::shared_ptr<const tokenizer::Tokenizer>> memory(kMostTokenizers);
    const std::filesystem::path file = tokenizer::tokenizer_file(path);
    return *memory.get(file.string(), {file}, [&] { return tokenizer::open_tokenizer(file); });
}

std::shared_ptr<const tokenizer::Tokenizer> tokenizer_of(const config::Json& setting,
                                                         const std::filesystem::path& base_dir) {
    if (setting.is_null()) {
        return nullptr;
    }
    const auto name = setting.get<std::string>();
    return name == "bytes" ? tokenizer::byte_tokenizer() : known_tokenizer(resolve(base_dir, name));
}

std::string named_tokenizer(const config::Json& data_section,
                            const std::filesystem::path& base_dir) {
    if (const config::Json& setting = data_section.at("tokenizer"); setting.is_string()) {
        return setting == "bytes" ? "bytes"
                                  : resolve(base_dir, setting.get<std::string>()).string();
    }
    const config::Json& train = data_section.at("train");
    if (train.at("type") == "tokens") {
        return tokenizer_beside(resolve(base_dir, train.at("path").get<std::string>())).string();
    }
    return train.at("type") == "text" || train.at("type") == "jsonl" || train.at("type") == "chat"
               ? "bytes"
               : "";
}

std::filesystem::path tokenizer_beside(const std::filesystem::path& tokens) {
    std::error_code unreadable;
    const bool folder = std::filesystem::is_directory(tokens, unreadable);
    const std::filesystem::path file =
        tokenizer::tokenizer_file(folder ? tokens : tokens.parent_path());
    return std::filesystem::is_regular_file(file, unreadable) ? file : std::filesystem::path();
}

} // namespace weft::data
