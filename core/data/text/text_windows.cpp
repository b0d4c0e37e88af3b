// SPDX-License-Identifier: Apache-2.0
#include "core/data/text/text_windows.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text.h"

#include <cstring>

namespace weft::data {
namespace {

namespace fs = std::filesystem;

class TextSource final : public Source {
public:
    TextSource(const fs::path& path, std::string content, std::int64_t length,
               std::string fingerprint)
        : length_(length), content_(std::move(content)), fingerprint_(std::move(fingerprint)) {
        info_ = describe_windows(path, static_cast<std::int64_t>(content_.size()), length);
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

class EncodedSource final : public Source {
public:
    EncodedSource(const fs::path& path, std::shared_ptr<const EncodedText> text,
                  std::int64_t length, std::string fingerprint)
        : length_(length), text_(std::move(text)), info_(describe_windows(path, *text_, length)),
          fingerprint_(std::move(fingerprint)) {}

    const SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override { return windows(std::ssize(text_->tokens), length_); }

    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        WEFT_CHECK(index >= 0 && index < samples(), "sample index within the source");
        const auto tokens =
            std::span(text_->tokens).subspan(static_cast<std::size_t>(index * length_));
        std::memcpy(input.data(), tokens.data(), input.size());
        if (!target.empty()) {
            std::memcpy(target.data(), tokens.data() + 1, target.size());
        }
    }

    std::int32_t label(std::int64_t) const override { return -1; }
    std::int64_t cache_bytes() const override {
        return std::ssize(text_->tokens) * static_cast<std::int64_t>(sizeof(tokenizer::Token));
    }
    std::string fingerprint() const override { return fingerprint_; }

private:
    std::int64_t length_;
    std::shared_ptr<const EncodedText> text_;
    SampleInfo info_;
    std::string fingerprint_;
};

} // namespace

void require_context(const fs::path& path, std::int64_t length) {
    if (length < 1) {
        throw Error(ErrorKind::data, path.string(),
                    "text needs the context length of a language model, and this model has none",
                    "Use a language model such as gpt2, a graph whose input is i32[B, positions], "
                    "or another data format.");
    }
}

void require_one_window(const fs::path& path, std::int64_t bytes, std::int64_t length) {
    if (bytes <= length) {
        throw Error(ErrorKind::data, path.string(),
                    "the text has " + format_thousands(bytes) + " bytes; one sample with context " +
                        format_thousands(length) + " needs " + format_thousands(length + 1),
                    "Use a longer text or a smaller model.context.");
    }
}

void require_one_window(const fs::path& path, const EncodedText& text, std::int64_t length) {
    if (std::ssize(text.tokens) <= length) {
        throw Error(ErrorKind::data, path.string(),
                    "the text has " + format_thousands(std::ssize(text.tokens)) +
                        " tokens; one sample with context " + format_thousands(length) + " needs " +
                        format_thousands(length + 1),
                    "Use a longer text or a smaller model.context.");
    }
}

PartOutline outline_windows(const fs::path& path, const EncodedText& text, std::int64_t length) {
    require_one_window(path, text, length);
    return {describe_windows(path, text, length), windows(std::ssize(text.tokens), length),
            std::ssize(text.tokens) * static_cast<std::int64_t>(sizeof(tokenizer::Token)), ""};
}

std::int64_t windows(std::int64_t tokens, std::int64_t length) {
    return (tokens - 1) / length;
}

SampleInfo describe_windows(const fs::path& path, const EncodedText& text, std::int64_t length) {
    SampleInfo info;
    info.input = info.target = {ir::DType::i32, {length}};
    info.classes = text.tokenizer->size();
    info.tokenizer = text.tokenizer;
    info.description = path.filename().string() + ", " + format_bytes(text.bytes) + " of text in " +
                       format_thousands(std::ssize(text.tokens)) + " tokens, " +
                       format_thousands(windows(std::ssize(text.tokens), length)) + " windows of " +
                       format_thousands(length);
    return info;
}

SampleInfo describe_windows(const fs::path& path, std::int64_t bytes, std::int64_t length) {
    SampleInfo info;
    info.input = info.target = {ir::DType::i32, {length}};
    info.classes = 256;
    info.tokenizer = tokenizer::byte_tokenizer();
    info.description = path.filename().string() + ", " + format_bytes(bytes) + " of text, " +
                       format_thousands(windows(bytes, length)) + " windows of " +
                       format_thousands(length);
    return info;
}

std::shared_ptr<const Source> text_windows(const fs::path& path, std::string content,
                                           std::int64_t length, std::string fingerprint) {
    require_one_window(path, static_cast<std::int64_t>(content.size()), length);
    return std::make_shared<TextSource>(path, std::move(content), length, std::move(fingerprint));
}

std::shared_ptr<const Source> text_windows(const fs::path& path,
                                           std::shared_ptr<const EncodedText> text,
                                           std::int64_t length, std::string fingerprint) {
    require_one_window(path, *text, length);
    return std::make_shared<EncodedSource>(path, std::move(text), length, std::move(fingerprint));
}

} // namespace weft::data
