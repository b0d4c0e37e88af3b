// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/page_trail.h"

namespace weft::ui {
namespace {

constexpr int kMostPages = 100;

} // namespace

void PageTrail::visit(const QString& page) {
    if (at_ >= 0 && pages_[at_] == page) {
        return;
    }
    pages_ = pages_.mid(0, at_ + 1) << page;
    if (pages_.size() > kMostPages) {
        pages_.removeFirst();
    }
    at_ = static_cast<int>(pages_.size()) - 1;
}

} // namespace weft::ui
