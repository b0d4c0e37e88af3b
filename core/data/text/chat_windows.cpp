// SPDX-License-Identifier: Apache-2.0
#include "core/data/text/chat_windows.h"

#include "core/base/check.h"

#include <algorithm>
#include <cstring>

namespace weft::data {
namespace {

class ChatSource final : public Source {
public:
    ChatSource(ChatTokens chat, SampleInfo info, std::string fingerprint)
        : chat_(std::move(chat)), info_(std::move(info)), fingerprint_(std::move(fingerprint)) {}

    const SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override { return chat_.conversations(); }

    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        WEFT_CHECK(index >= 0 && index < samples(), "sample index within the source");
        const auto length = static_cast<std::size_t>(info_.target.shape[0]);
        std::vector<tokenizer::Token> tokens(length, 0);
        std::vector<tokenizer::Token> next(length, -1);
        const auto first = static_cast<std::size_t>(chat_.starts[static_cast<std::size_t>(index)]);
        const auto positions = static_cast<std::size_t>(chat_.positions(index));
        WEFT_CHECK(positions <= length, "a conversation fits its window");
        std::copy_n(chat_.tokens.begin() + static_cast<std::ptrdiff_t>(first), positions,
                    tokens.begin());
        for (std::size_t i = 0; i < positions; ++i) {
            next[i] = chat_.is_learnt[first + i + 1] ? chat_.tokens[first + i + 1] : -1;
        }
        std::memcpy(input.data(), tokens.data(), input.size());
        if (!target.empty()) {
            std::memcpy(target.data(), next.data(), target.size());
        }
    }

    std::int32_t label(std::int64_t) const override { return -1; }
    std::int64_t cache_bytes() const override { return chat_bytes(chat_); }
    std::string fingerprint() const override { return fingerprint_; }

private:
    ChatTokens chat_;
    SampleInfo info_;
    std::string fingerprint_;
};

} // namespace

std::int64_t ChatTokens::positions(std::int64_t conversation) const {
    const auto at = static_cast<std::size_t>(conversation);
    return starts[at + 1] - starts[at] - 1;
}

std::int64_t chat_bytes(const ChatTokens& chat) {
    return std::ssize(chat.tokens) * static_cast<std::int64_t>(sizeof(tokenizer::Token)) +
           std::ssize(chat.is_learnt) / 8 +
           std::ssize(chat.starts) * static_cast<std::int64_t>(sizeof(std::int64_t));
}

std::shared_ptr<const Source> chat_windows(ChatTokens chat, SampleInfo info,
                                           std::string fingerprint) {
    return std::make_shared<ChatSource>(std::move(chat), std::move(info), std::move(fingerprint));
}

} // namespace weft::data
