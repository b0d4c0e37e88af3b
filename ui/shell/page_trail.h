// SPDX-License-Identifier: GPL-3.0-or-later
// The pages in the order in which they were looked at, with the way back and forward.
#pragma once

#include <QStringList>

namespace weft::ui {

class PageTrail {
public:
    /// A page came to the front by itself; pages that were gone back from are forgotten.
    void visit(const QString& page);
    bool canGo(int steps) const { return at_ + steps >= 0 && at_ + steps < pages_.size(); }
    /// One back (-1) or forward (1), which must be possible: the page there.
    QString go(int steps) { return pages_[at_ += steps]; }

private:
    QStringList pages_;
    int at_ = -1;
};

} // namespace weft::ui
