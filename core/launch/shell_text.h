// SPDX-License-Identifier: Apache-2.0
// Words as a POSIX shell reads them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace weft::launch {

/// The word as it is where a shell takes it literally, else in single quotes.
std::string shell_quoted(std::string_view word);
/// The words, quoted, with blanks between them.
std::string shell_line(std::span<const std::string> words);

} // namespace weft::launch
