// SPDX-License-Identifier: Apache-2.0
// One live line on stderr, where that is a terminal, about data that take their time to open.
#pragma once

#include "app/cli/context.h"
#include "core/data/opening.h"

namespace weft::cli {

class OpeningLine {
public:
    explicit OpeningLine(const Context& context);
    ~OpeningLine() { clear(); }
    OpeningLine(const OpeningLine&) = delete;
    OpeningLine& operator=(const OpeningLine&) = delete;

    /// One call at a time.
    void show(const data::Opening& opening, double seconds);
    void clear();

private:
    const bool live_;
    const std::size_t room_;
    bool is_open_ = false;
};

} // namespace weft::cli
