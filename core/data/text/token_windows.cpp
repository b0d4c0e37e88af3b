// SPDX-License-Identifier: Apache-2.0
#include "core/data/text/token_windows.h"

#include "core/base/check.h"
#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/text/text_windows.h"

#include <algorithm>
#include <cstring>

namespace weft::data {
namespace {

constexpr std::int64_t kTokenBlockBytes = 512 << 10;
constexpr std::int64_t kTokenBytesChecked = 1 << 20; // at either end

std::int64_t bytes_of(TokenWidth width) {
    return static_cast<std::int64_t>(width);
}

std::int64_t samples_per_block(TokenWidth width, std::int64_t length) {
    return std::max<std::int64_t>(1, kTokenBlockBytes / (length * bytes_of(width)));
}

template <class Stored>
std::int32_t token_at(const std::byte* tokens, std::int64_t index) {
    Stored value = 0;
    std::memcpy(&value, tokens + index * static_cast<std::int64_t>(sizeof value), sizeof value);
    return static_cast<std::int32_t>(value);
}

class RunOfFiles final : public TokenRun {
public:
    RunOfFiles(std::vector<TokenFile> files, TokenWidth width)
        : files_(std::move(files)), width_(width) {
        starts_.push_back(0);
        for (const TokenFile& file : files_) {
            starts_.push_back(starts_.back() + file.tokens);
        }
    }

    TokenWidth width() const override { return width_; }
    std::int64_t tokens() const override { return starts_.back(); }

    void read(std::int64_t first, std::span<std::byte> out) const override {
        const std::int64_t width = bytes_of(width_);
        while (!out.empty()) {
            const std::size_t at = file_of(first);
            const TokenFile& file = files_[at];
            const std::int64_t here =
                std::min(static_cast<std::int64_t>(out.size()) / width, starts_[at + 1] - first);
            const auto bytes = static_cast<std::size_t>(here * width);
            File(file.path, File::Mode::read, ErrorKind::data)
                .read_at(out.first(bytes), file.offset + (first - starts_[at]) * width);
            out = out.subspan(bytes);
            first += here;
        }
    }

    std::string place_of(std::int64_t token) const override {
        const std::size_t at = file_of(token);
        return files_[at].path.string() + ", token " + std::to_string(token - starts_[at]);
    }

private:
    std::size_t file_of(std::int64_t token) const {
        return static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), token) -
                                        starts_.begin() - 1);
    }

    std::vector<TokenFile> files_;
    TokenWidth width_;
    std::vector<std::int64_t> starts_; // first token of each file, the end
};

class TokenSource final : public Source {
public:
    TokenSource(std::shared_ptr<const TokenRun> run, std::int64_t length, SampleInfo info,
                const std::string& fingerprint, bool in_blocks)
        : run_(std::move(run)), length_(length), info_(std::move(info)) {
        const std::int64_t block = samples_per_block(run_->width(), length);
        for (std::int64_t first = 0; in_blocks && first < samples(); first += block) {
            blocks_.push_back(first);
        }
        if (in_blocks) {
            blocks_.push_back(samples());
        }
        fingerprint_ = fingerprint + ", crc32c of the ends " + std::to_string(checksum_of_ends());
    }

    const SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override { return windows(run_->tokens(), length_); }
    std::span<const std::int64_t> blocks() const override { return blocks_; }

    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        const std::uint32_t place = 0;
        std::vector<std::byte> scratch;
        read_run(index, std::nullopt, {std::span(&place, 1), input, target, scratch});
    }

    void read_run(std::int64_t first, std::optional<std::int64_t>,
                  const RowsOut& out) const override {
        const auto count = static_cast<std::int64_t>(out.places.size());
        WEFT_CHECK(first >= 0 && first + count <= samples(), "samples of the source");
        const std::int64_t begin = first * length_;
        const auto bytes =
            static_cast<std::size_t>((count * length_ + 1) * bytes_of(run_->width()));
        if (out.scratch.size() < bytes) {
            out.scratch.resize(bytes);
        }
        run_->read(begin, std::span(out.scratch).first(bytes));
        switch (run_->width()) {
        case TokenWidth::byte: return place_tokens<std::uint8_t>(begin, out);
        case TokenWidth::two: return place_tokens<std::uint16_t>(begin, out);
        case TokenWidth::four: return place_tokens<std::uint32_t>(begin, out);
        }
    }

    std::int32_t label(std::int64_t) const override { return -1; }
    std::string place_of(std::int64_t index) const override {
        return run_->place_of(index * length_);
    }
    std::int64_t cache_bytes() const override { return 0; }
    std::string fingerprint() const override { return fingerprint_; }

private:
    template <class Stored>
    void place_tokens(std::int64_t begin, const RowsOut& out) const {
        const auto sample_bytes = static_cast<std::size_t>(length_) * sizeof(std::int32_t);
        std::vector<std::int32_t> tokens(static_cast<std::size_t>(length_) + 1);
        for (std::size_t i = 0; i < out.places.size(); ++i) {
            const std::int64_t first = static_cast<std::int64_t>(i) * length_;
            for (std::int64_t k = 0; k <= length_; ++k) {
                tokens[static_cast<std::size_t>(k)] =
                    token_at<Stored>(out.scratch.data(), first + k);
            }
            refuse_unknown(tokens, begin + first);
            std::memcpy(out.inputs.data() + out.places[i] * sample_bytes, tokens.data(),
                        sample_bytes);
            if (!out.targets.empty()) {
                std::memcpy(out.targets.data() + out.places[i] * sample_bytes, tokens.data() + 1,
                            sample_bytes);
            }
        }
    }

    void refuse_unknown(const std::vector<std::int32_t>& tokens, std::int64_t first) const {
        const auto unknown = std::find_if(tokens.begin(), tokens.end(), [&](std::int32_t token) {
            return static_cast<std::uint32_t>(token) >= static_cast<std::uint64_t>(info_.classes);
        });
        if (unknown != tokens.end()) {
            throw Error(ErrorKind::data, run_->place_of(first + (unknown - tokens.begin())),
                        "it is " + std::to_string(static_cast<std::uint32_t>(*unknown)) +
                            "; the vocabulary has " + format_thousands(info_.classes) + " tokens",
                        "Set data.train.vocab to the vocabulary that the file was written with.");
        }
    }

    std::uint32_t checksum_of_ends() const {
        const std::int64_t width = bytes_of(run_->width());
        const std::int64_t most = std::min(run_->tokens(), kTokenBytesChecked / width);
        std::vector<std::byte> piece(static_cast<std::size_t>(most * width));
        run_->read(0, piece);
        const std::uint32_t sum = crc32c(piece);
        run_->read(run_->tokens() - most, piece);
        return crc32c(piece, sum);
    }

    std::shared_ptr<const TokenRun> run_;
    std::int64_t length_;
    SampleInfo info_;
    std::vector<std::int64_t> blocks_;
    std::string fingerprint_;
};

} // namespace

std::shared_ptr<const TokenRun> run_of_files(std::vector<TokenFile> files, TokenWidth width) {
    return std::make_shared<RunOfFiles>(std::move(files), width);
}

std::shared_ptr<const Source> token_windows(std::shared_ptr<const TokenRun> run,
                                            std::int64_t length, SampleInfo info,
                                            const std::string& fingerprint, bool in_blocks) {
    WEFT_CHECK(run->tokens() > length, "one window at least");
    return std::make_shared<TokenSource>(std::move(run), length, std::move(info), fingerprint,
                                         in_blocks);
}

std::int64_t largest_token_block(std::int64_t tokens, TokenWidth width, std::int64_t length) {
    return std::min(windows(tokens, length), samples_per_block(width, length));
}

} // namespace weft::data
