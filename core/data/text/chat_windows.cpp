// SPDX-License-Identifier: Apache-2.0
#include "core/data/text/chat_windows.h"

#include "core/base/check.h"
#include "core/data/text/token_samples.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

namespace weft::data {
namespace {

class ChatSource final : public Source {
public:
    ChatSource(ChatTokens chat, ChatWindows windows, SampleInfo info, std::string fingerprint)
        : chat_(std::move(chat)), windows_(std::move(windows)), info_(std::move(info)),
          fingerprint_(std::move(fingerprint)) {}

    const SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override { return windows_.windows(); }

    void read(std::int64_t index, std::span<std::byte> input,
              std::span<std::byte> target) const override {
        WEFT_CHECK(index >= 0 && index < samples(), "sample index within the source");
        const auto length = static_cast<std::size_t>(info_.target.shape[0]);
        std::vector<tokenizer::Token> tokens(is_packed(info_.input) ? 2 * length : length, 0);
        std::vector<tokenizer::Token> next(length, -1);
        std::size_t at = 0;
        const auto window = static_cast<std::size_t>(index);
        for (std::int64_t i = windows_.starts[window]; i < windows_.starts[window + 1]; ++i) {
            const std::int64_t one = windows_.conversations[static_cast<std::size_t>(i)];
            const auto first =
                static_cast<std::size_t>(chat_.starts[static_cast<std::size_t>(one)]);
            const auto positions = static_cast<std::size_t>(chat_.positions(one));
            WEFT_CHECK(at + positions <= length, "conversations fit their window");
            for (std::size_t k = 0; k < positions; ++k, ++at) {
                tokens[at] = chat_.tokens[first + k];
                next[at] = chat_.is_learnt[first + k + 1] ? chat_.tokens[first + k + 1] : -1;
                if (is_packed(info_.input)) {
                    tokens[length + at] = static_cast<tokenizer::Token>(k);
                }
            }
        }
        std::memcpy(input.data(), tokens.data(), input.size());
        if (!target.empty()) {
            std::memcpy(target.data(), next.data(), target.size());
        }
    }

    std::int32_t label(std::int64_t) const override { return -1; }
    std::int64_t cache_bytes() const override { return chat_bytes(chat_, windows_); }
    std::string fingerprint() const override { return fingerprint_; }

private:
    ChatTokens chat_;
    ChatWindows windows_;
    SampleInfo info_;
    std::string fingerprint_;
};

} // namespace

std::int64_t ChatTokens::positions(std::int64_t conversation) const {
    const auto at = static_cast<std::size_t>(conversation);
    return starts[at + 1] - starts[at] - 1;
}

ChatWindows each_apart(const ChatTokens& chat) {
    ChatWindows out;
    for (std::int64_t i = 0; i < chat.conversations(); ++i) {
        out.conversations.push_back(i);
        out.starts.push_back(i + 1);
    }
    return out;
}

ChatWindows packed(const ChatTokens& chat, std::int64_t length) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(chat.conversations()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return chat.positions(a) > chat.positions(b);
    });
    std::vector<std::vector<std::int64_t>> windows;
    std::map<std::int64_t, std::vector<std::size_t>> with_room; // for so many positions
    for (const std::int64_t one : order) {
        const std::int64_t positions = chat.positions(one);
        const auto best = with_room.lower_bound(positions);
        std::int64_t room = length;
        std::size_t window = windows.size();
        if (best == with_room.end()) {
            windows.emplace_back();
        } else {
            room = best->first;
            window = best->second.back();
            best->second.pop_back();
            if (best->second.empty()) {
                with_room.erase(best);
            }
        }
        windows[window].push_back(one);
        if (room > positions) {
            with_room[room - positions].push_back(window);
        }
    }
    ChatWindows out;
    for (const std::vector<std::int64_t>& window : windows) {
        out.conversations.insert(out.conversations.end(), window.begin(), window.end());
        out.starts.push_back(std::ssize(out.conversations));
    }
    return out;
}

std::int64_t chat_bytes(const ChatTokens& chat, const ChatWindows& windows) {
    return std::ssize(chat.tokens) * static_cast<std::int64_t>(sizeof(tokenizer::Token)) +
           std::ssize(chat.is_learnt) / 8 +
           (std::ssize(chat.starts) + std::ssize(windows.conversations) +
            std::ssize(windows.starts)) *
               static_cast<std::int64_t>(sizeof(std::int64_t));
}

std::shared_ptr<const Source> chat_windows(ChatTokens chat, ChatWindows windows, SampleInfo info,
                                           std::string fingerprint) {
    return std::make_shared<ChatSource>(std::move(chat), std::move(windows), std::move(info),
                                        std::move(fingerprint));
}

} // namespace weft::data
