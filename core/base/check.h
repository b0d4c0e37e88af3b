// SPDX-License-Identifier: Apache-2.0
// WEFT_CHECK(condition, text): programmer faults, always on. User input never reaches one.
#pragma once

#include <stdexcept>
#include <string>

namespace weft {

/// Thrown by WEFT_CHECK; a bug in this program, never the user's fault.
class CheckFailure : public std::logic_error {
    using std::logic_error::logic_error;
};

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& text);

} // namespace weft

#define WEFT_CHECK(condition, text)                                                                \
    do {                                                                                           \
        if (!(condition)) [[unlikely]] {                                                           \
            ::weft::check_failed(__FILE__, __LINE__, #condition, (text));                          \
        }                                                                                          \
    } while (false)
