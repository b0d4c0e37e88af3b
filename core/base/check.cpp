// SPDX-License-Identifier: Apache-2.0
#include "core/base/check.h"

namespace weft {

void check_failed(const char* file, int line, const char* condition, const std::string& text) {
    throw CheckFailure(std::string(file) + ":" + std::to_string(line) + ": " + text + " [" +
                       condition + "]");
}

} // namespace weft
