// SPDX-License-Identifier: Apache-2.0
// Conversations in tokens as samples of a language model with a context of T: input i32[T], target
// i32[T], where -1 stands at every position whose next token is not to be learnt.
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

/// Host bytes that they take.
std::int64_t chat_bytes(const ChatTokens& chat);

/// One conversation per window; what is left of it is token 0 and not learnt, and no position
/// before it sees it. No conversation has more than T positions.
std::shared_ptr<const Source> chat_windows(ChatTokens chat, SampleInfo info,
                                           std::string fingerprint);

} // namespace weft::data
