// SPDX-License-Identifier: Apache-2.0
// A page of text for people, and how it writes numbers. Private to core/plan.
#pragma once

#include "core/plan/plan.h"

#include <string>

namespace weft::plan {

std::string fixed(double value, int digits);
/// Three significant digits: "0.42 ms", "81.3 ms", "1.24 s".
std::string milliseconds(double ms);
std::string left(std::string text, std::size_t columns);
std::string right(const std::string& text, std::size_t columns);
/// `text` in at most `columns`, cut at its end.
std::string cut(const std::string& text, std::size_t columns);

class Page {
public:
    static constexpr std::size_t kNameColumns = 16;
    static constexpr std::size_t kNumberColumns = 11;

    explicit Page(const PageStyle& style);

    void heading(const std::string& text, const std::string& remark = {});
    void line(std::string text);
    /// Words in lines of the page's width: `first` blanks before the first line, `rest` before
    /// others.
    void sentence(const std::string& text, std::size_t first, std::size_t rest);
    /// "  name      value  rest"
    void row(const std::string& name, const std::string& value, const std::string& rest = {});
    std::string painted(const std::string& text, const char* code) const;
    /// A bar for a share of the longest one; `beside` columns of its line are taken.
    std::string bar(double share, std::size_t beside) const;
    std::size_t columns() const { return static_cast<std::size_t>(columns_); }
    sharding::SpecDialect specs() const { return specs_; }
    std::string text() { return std::move(out_); }

private:
    bool colour_;
    int columns_;
    sharding::SpecDialect specs_;
    std::string out_;
};

} // namespace weft::plan
