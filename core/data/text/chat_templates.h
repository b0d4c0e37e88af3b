// SPDX-License-Identifier: Apache-2.0
// Conversations out of JSON objects, and the text that a model reads of them.
#pragma once

#include "core/config/field.h"
#include "core/tokenizer/tokenizer.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace weft::data {

struct Message {
    enum class Role : std::uint8_t { system, user, assistant };
    Role role = Role::user;
    std::string text;
    std::string input = {}; // of an instruction: what it is about
};

/// The messages of an object, or why there are none.
struct Conversation {
    std::vector<Message> messages;
    std::string problem;
};

/// Knows four layouts by their fields: "messages" of role and content; "conversations" of from and
/// value, as ShareGPT has them; "instruction" with "input" and "output"; "prompt" with "completion"
/// or "response". An assistant has to say something.
Conversation conversation_of(const config::Json& object);

/// A stretch of the text of a conversation that becomes tokens by itself.
struct Piece {
    std::string text;
    bool is_answer = false; // what the model has to say, the end of its turn included
};

/// Stands for what a message says.
inline constexpr std::string_view kContentMark = "{content}";

/// Text before and behind what a message says, as kContentMark parts them; `begin` comes first.
struct OwnTemplate {
    std::string begin, system, user, assistant;
};

struct ChatTemplate {
    std::string_view name;
    std::string_view help;
    std::string_view
        mark; // a token by which a tokenizer shows that it was made for it; empty: none
    /// `end` is what ends an answer where the template has no mark of its own for it.
    std::vector<Piece> (*pieces)(const std::vector<Message>& messages, const std::string& end);
};

extern const std::array<ChatTemplate, 4> kChatTemplates;

/// The template of these texts, each with one "{content}" but `begin`.
std::vector<Piece> own_pieces(const std::vector<Message>& messages, const OwnTemplate& own);

/// Whether a text is one token.
bool is_one_token(const tokenizer::Tokenizer& tokenizer, std::string_view text);

/// The token that ends a text, by the names of known tokenizers; where none is known the text
/// "<|endoftext|>".
std::string end_of_text(const tokenizer::Tokenizer& tokenizer);

} // namespace weft::data
