// SPDX-License-Identifier: Apache-2.0
#include "app/cli/opening_line.h"

#include "core/base/text.h"

#include <algorithm>
#include <cstdio>

namespace weft::cli {

OpeningLine::OpeningLine(const Context& context)
    : live_(context.error_terminal),
      room_(static_cast<std::size_t>(std::max(20, context.columns - 1))) {}

void OpeningLine::show(const data::Opening& opening, double seconds) {
    if (!live_) {
        return;
    }
    const double share = opening.share();
    const std::string left =
        share > 0 ? "(" + format_duration(seconds / share - seconds) + " left) " : "";
    const std::string text =
        "Reading " + left + data::to_text(opening) + ", " + format_duration(seconds);
    std::fflush(stdout);
    std::fprintf(stderr, "\r\033[K%s", text.substr(0, room_).c_str());
    is_open_ = true;
}

void OpeningLine::clear() {
    if (is_open_) {
        std::fprintf(stderr, "\r\033[K");
        is_open_ = false;
    }
}

} // namespace weft::cli
