// SPDX-License-Identifier: Apache-2.0
// Conversations in tokens as samples of a language model with a context of T: input i32[T], or
// i32[2, T] of several (token_samples.h), target i32[T], where -1 stands at every position whose
// next token is not to be learnt.
#pragma once

#include "core/data/dataset.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weft::data {

/// Any number of conversations, one after the other.
struct ChatTokens {
    std::vector<tokenizer::Token> tokens;
    std::vector<bool> is_learnt;            // of each token
    std::vector<std::int64_t> starts = {0}; // of each conversation, then tokens.size()

    std::int64_t conversations() const { return std::ssize(starts) - 1; }
    /// Positions of a conversation in a window: its last token is only a target.
    std::int64_t positions(std::int64_t conversation) const;
};

/// Which conversations stand in which window, one behind the other.
struct ChatWindows {
    std::vector<std::int64_t> conversations; // of the first window, the second, ...
    std::vector<std::int64_t> starts = {0};  // of each window in it, then its size

    std::int64_t windows() const { return std::ssize(starts) - 1; }
};

/// One conversation per window.
ChatWindows each_apart(const ChatTokens& chat);
/// As many as have room in `length` positions, by best fit decreasing (Johnson 1974: at most 11/9
/// of the fewest windows that do, and one).
ChatWindows packed(const ChatTokens& chat, std::int64_t length);

/// Host bytes that they take.
std::int64_t chat_bytes(const ChatTokens& chat, const ChatWindows& windows);

/// What is left of a window is token 0 and not learnt, and no position before it sees it. No
/// conversation has more than T positions. `info.input` says whether there are positions.
std::shared_ptr<const Source> chat_windows(ChatTokens chat, ChatWindows windows, SampleInfo info,
                                           std::string fingerprint);

} // namespace weft::data
