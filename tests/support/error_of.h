// SPDX-License-Identifier: Apache-2.0
// The error that something throws, for tests of its kind, text and hint.
#pragma once

#include "core/base/error.h"

#include <functional>
#include <optional>

namespace weft::test {

/// The weft::Error that `action` throws; nothing when it throws none.
inline std::optional<Error> error_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        return error;
    }
    return std::nullopt;
}

} // namespace weft::test
