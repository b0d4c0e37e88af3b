// SPDX-License-Identifier: Apache-2.0
#include "core/train/boards/board_text.h"

#include "core/base/check.h"
#include "core/base/error.h"

namespace weft::train {
namespace {

constexpr std::string_view kBetweenCells = " \t\r\n|-+";

char symbol_of(const data::BoardForm& form, std::int32_t cell) {
    const auto at = static_cast<std::size_t>(cell);
    return cell >= 0 && at < form.symbols.size() ? form.symbols[at] : kUnjudged;
}

std::string size_of(const data::BoardForm& form) {
    return std::to_string(form.rows) + " x " + std::to_string(form.columns) + " cells";
}

} // namespace

std::int64_t wrong_cells(std::span<const std::int32_t> said, std::span<const std::int32_t> answer) {
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < said.size(); ++i) {
        wrong += answer[i] >= 0 && said[i] != answer[i] ? 1 : 0;
    }
    return wrong;
}

std::string board_text(const data::BoardForm& form, std::span<const std::int32_t> cells) {
    std::string out;
    out.reserve(cells.size());
    for (const std::int32_t cell : cells) {
        out += symbol_of(form, cell);
    }
    return out;
}

std::vector<std::string> board_lines(const data::BoardForm& form,
                                     std::span<const std::int32_t> cells) {
    WEFT_CHECK(static_cast<std::int64_t>(cells.size()) == form.cells(), "a board has its cells");
    const bool boxes = form.box_rows > 0 && form.box_columns > 0;
    std::vector<std::string> out;
    for (std::int64_t row = 0; row < form.rows; ++row) {
        if (boxes && row > 0 && row % form.box_rows == 0) {
            std::string between = out.back();
            for (char& c : between) {
                c = c == '|' ? '+' : '-';
            }
            out.push_back(std::move(between));
        }
        std::string line;
        for (std::int64_t column = 0; column < form.columns; ++column) {
            if (boxes && column > 0) {
                line += column % form.box_columns == 0 ? " | " : " ";
            }
            line += symbol_of(form, cells[static_cast<std::size_t>(row * form.columns + column)]);
        }
        out.push_back(std::move(line));
    }
    return out;
}

std::vector<std::int32_t> sample_of(const data::SampleInfo& info,
                                    std::span<const std::int32_t> cells) {
    std::vector<std::int32_t> out(static_cast<std::size_t>(info.lead()), 0);
    out.insert(out.end(), cells.begin(), cells.end());
    return out;
}

std::vector<std::int32_t> parse_board(const data::BoardForm& form, std::string_view text) {
    std::vector<std::int32_t> out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const auto at = form.symbols.find(c);
        if (at != std::string::npos) {
            out.push_back(static_cast<std::int32_t>(at));
        } else if (c == '0') {
            out.push_back(form.blank);
        } else if (kBetweenCells.find(c) == std::string_view::npos) {
            throw Error(ErrorKind::usage, "board",
                        "character " + std::to_string(i + 1) + ", '" + std::string(1, c) +
                            "', stands for no cell",
                        "Cells are written as " + form.symbols.substr(1) + ", blank ones as '.'.");
        }
    }
    if (static_cast<std::int64_t>(out.size()) != form.cells()) {
        throw Error(ErrorKind::usage, "board",
                    "it has " + std::to_string(out.size()) + " cells; a board here has " +
                        size_of(form) + ", " + std::to_string(form.cells()) + " in all",
                    "Write every cell, blank ones as '.'.");
    }
    return out;
}

} // namespace weft::train
