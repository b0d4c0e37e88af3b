// SPDX-License-Identifier: Apache-2.0
#include "core/data/text/write_tokens.h"

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/data/text/encode_text.h"
#include "core/data/text/text_files.h"
#include "core/tokenizer/tokenizer_file.h"

#include <algorithm>
#include <cstdio>

namespace weft::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPieceOfTextBytes = 32 << 20; // of text that are in memory
constexpr std::int64_t kShardTokens = 1 << 28;

/// A text in pieces that encode_text may take one by one: what is left behind their last end of a
/// stretch goes before the next.
class Pieces {
public:
    explicit Pieces(const std::vector<fs::path>& files) : files_(files) {}

    /// The next piece; false at the end of all files.
    bool next(std::string& piece) {
        piece = std::exchange(rest_, {});
        while (open_ < files_.size()) {
            const File file(files_[open_], File::Mode::read, ErrorKind::data);
            const std::int64_t bytes = std::min(kPieceOfTextBytes, file.size() - at_);
            const std::size_t before = piece.size();
            piece.resize(before + static_cast<std::size_t>(bytes));
            file.read_at(std::as_writable_bytes(std::span(piece).subspan(before)), at_);
            at_ += bytes;
            const bool ended = at_ == file.size();
            if (ended) {
                ++open_;
                at_ = 0;
            }
            if (open_ == files_.size()) {
                break;
            }
            if (const std::size_t end = last_stretch_end(piece); end > 0) {
                rest_ = piece.substr(end);
                piece.resize(end);
                return true;
            }
        }
        return !piece.empty();
    }

private:
    const std::vector<fs::path>& files_;
    std::size_t open_ = 0;
    std::int64_t at_ = 0; // in the open file
    std::string rest_;
};

/// Files of so many tokens each.
class ShardWriter {
public:
    ShardWriter(fs::path folder, bool wide) : folder_(std::move(folder)), wide_(wide) {}

    void add(std::span<const tokenizer::Token> tokens) {
        while (!tokens.empty()) {
            if (files_ == 0 || in_file_ == kShardTokens) {
                begin();
            }
            const auto room = static_cast<std::size_t>(kShardTokens - in_file_);
            const auto part = tokens.first(std::min(room, tokens.size()));
            write(part);
            in_file_ += std::ssize(part);
            tokens = tokens.subspan(part.size());
        }
    }

    void end() {
        if (file_.is_open()) {
            file_.sync();
            file_.close();
        }
    }
    std::int64_t files() const { return files_; }

private:
    void begin() {
        end();
        char name[32];
        std::snprintf(name, sizeof name, "%05lld.bin", static_cast<long long>(files_++));
        file_ = File(folder_ / name, File::Mode::write_new);
        in_file_ = 0;
    }

    void write(std::span<const tokenizer::Token> tokens) {
        const std::int64_t at = in_file_ * (wide_ ? 4 : 2);
        if (wide_) {
            file_.write_at(std::as_bytes(tokens), at);
            return;
        }
        narrow_.assign(tokens.begin(), tokens.end());
        file_.write_at(std::as_bytes(std::span(narrow_)), at);
    }

    const fs::path folder_;
    const bool wide_;
    File file_;
    std::int64_t files_ = 0;
    std::int64_t in_file_ = 0;
    std::vector<std::uint16_t> narrow_;
};

} // namespace

WrittenTokens write_tokens(const fs::path& text, const OpenContext& context, const fs::path& to) {
    std::error_code unreadable;
    if (fs::exists(to, unreadable)) {
        throw Error(ErrorKind::usage, to.string(), "it is there already", "Name another folder.");
    }
    Notes ignored;
    const std::vector<fs::path> files = text_files(text, ignored);
    fs::path part = to;
    part += ".part";
    remove_tree(part);
    make_directories(part);
    const tokenizer::Tokenizer& tokenizer = *context.tokenizer;
    const bool wide = tokenizer.size() > 1 << 16;
    ShardWriter shards(part, wide);
    WrittenTokens out;
    Pieces pieces(files);
    for (std::string piece; pieces.next(piece);) {
        const TextStart start = out.text_bytes == 0 ? TextStart::of_text : TextStart::further;
        const EncodedText encoded = encode_text(piece, context, text.filename().string(), start);
        shards.add(encoded.tokens);
        out.tokens += std::ssize(encoded.tokens);
        out.text_bytes += encoded.bytes;
    }
    shards.end();
    out.files = shards.files();
    const config::Json told{
        {"dtype", wide ? "uint32" : "uint16"}, {"vocab", tokenizer.size()}, {"tokens", out.tokens}};
    write_file_atomically(part / "tokens.json", told.dump() + "\n");
    if (!tokenizer.document().empty()) {
        const std::string& document = tokenizer.document();
        write_file_atomically(part / tokenizer::name_of_document(document), document);
    }
    sync_directory(part);
    rename_durably(part, to);
    return out;
}

std::shared_ptr<const tokenizer::Tokenizer>
learn_tokenizer(const fs::path& text, const tokenizer::TrainOptions& options,
                const OpenContext& context, const std::function<void(std::int64_t)>& progress) {
    Notes ignored;
    const std::vector<fs::path> files = text_files(text, ignored);
    Pieces pieces(files);
    std::string piece;
    std::size_t at = 0;
    const auto next_line = [&](std::string& line) {
        while (at == piece.size()) {
            at = 0;
            if (context.stop.stop_requested()) {
                throw Error(ErrorKind::runtime, text.string(), "reading was stopped");
            }
            if (!pieces.next(piece)) {
                return false;
            }
        }
        const std::size_t end = piece.find('\n', at);
        line.assign(piece, at, end == piece.npos ? piece.npos : end + 1 - at);
        at += line.size();
        return true;
    };
    return tokenizer::train_bpe(options, next_line, context.stop, progress);
}

} // namespace weft::data
