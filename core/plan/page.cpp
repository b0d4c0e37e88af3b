// SPDX-License-Identifier: Apache-2.0
#include "core/plan/page.h"

#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace weft::plan {
namespace {

constexpr int kLeastColumns = 60;
constexpr int kMostBar = 32;

} // namespace

std::string fixed(double value, int digits) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
    return buffer;
}

std::string milliseconds(double ms) {
    const double value = ms < 1000 ? ms : ms / 1000;
    const int digits = value < 10 ? 2 : value < 100 ? 1 : 0;
    return fixed(value, digits) + (ms < 1000 ? " ms" : " s");
}

std::string left(std::string text, std::size_t columns) {
    text.resize(std::max(text.size(), columns), ' ');
    return text;
}

std::string right(const std::string& text, std::size_t columns) {
    return std::string(text.size() < columns ? columns - text.size() : 0, ' ') + text;
}

std::string cut(const std::string& text, std::size_t columns) {
    return text.size() <= columns ? text : text.substr(0, columns - 3) + "...";
}

Page::Page(const PageStyle& style)
    : colour_(style.colour), columns_(std::max(style.columns, kLeastColumns)), specs_(style.specs) {
}

void Page::heading(const std::string& text, const std::string& remark) {
    out_ += "\n" + painted(text, "1") + (remark.empty() ? "" : "  " + remark) + "\n";
}

void Page::line(std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    out_ += text + "\n";
}

void Page::sentence(const std::string& text, std::size_t first, std::size_t rest) {
    std::string current(first, ' ');
    for (const std::string& word : split(text, ' ')) {
        const bool begun = current.find_first_not_of(' ') != std::string::npos;
        if (begun && current.size() + 1 + word.size() > columns()) {
            line(std::move(current));
            current = std::string(rest, ' ') + word;
        } else {
            current += (begun ? " " : "") + word;
        }
    }
    line(std::move(current));
}

void Page::row(const std::string& name, const std::string& value, const std::string& rest) {
    line("  " + left(name, kNameColumns) + right(value, kNumberColumns) +
         (rest.empty() ? "" : "  " + rest));
}

std::string Page::painted(const std::string& text, const char* code) const {
    return colour_ ? "\033[" + std::string(code) + "m" + text + "\033[0m" : text;
}

std::string Page::bar(double share, std::size_t beside) const {
    const int room = std::clamp(columns_ - static_cast<int>(beside) - 1, 8, kMostBar);
    const int cells = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * room));
    std::string out;
    for (int i = 0; i < cells; ++i) {
        out += "\u2501";
    }
    return painted(out, "36");
}

} // namespace weft::plan
