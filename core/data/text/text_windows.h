// SPDX-License-Identifier: Apache-2.0
// A text as samples of a language model. Sample i is the window of T + 1 bytes that starts at byte
// i * T: input is its first T bytes, target its last T. Inputs of different samples do not overlap
// and every byte but the first is predicted exactly once; what is left after the last whole window
// is not used. The vocabulary is the 256 byte values. The same of the tokens of a tokenizer.
#pragma once

#include "core/data/formats/format.h"
#include "core/data/text/encode_text.h"

namespace weft::data {

/// Throws weft::Error{data} when the model has no context (`length` 0).
void require_context(const std::filesystem::path& path, std::int64_t length);
/// Throws weft::Error{data} when the text is shorter than one window.
void require_one_window(const std::filesystem::path& path, std::int64_t bytes, std::int64_t length);
void require_one_window(const std::filesystem::path& path, const EncodedText& text,
                        std::int64_t length);
/// Number of windows of a text of so many tokens.
std::int64_t windows(std::int64_t tokens, std::int64_t length);
SampleInfo describe_windows(const std::filesystem::path& path, std::int64_t bytes,
                            std::int64_t length);

SampleInfo describe_windows(const std::filesystem::path& path, const EncodedText& text,
                            std::int64_t length);

/// What a plan wants to know of it.
PartOutline outline_windows(const std::filesystem::path& path, const EncodedText& text,
                            std::int64_t length);

/// `path` is what messages name. Throws weft::Error{data} when the text is too short.
std::shared_ptr<const Source> text_windows(const std::filesystem::path& path, std::string content,
                                           std::int64_t length, std::string fingerprint);
/// The same of tokens.
std::shared_ptr<const Source> text_windows(const std::filesystem::path& path,
                                           std::shared_ptr<const EncodedText> text,
                                           std::int64_t length, std::string fingerprint);

} // namespace weft::data
