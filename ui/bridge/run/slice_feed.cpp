// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/slice_feed.h"

#include <algorithm>

namespace weft::ui {

SliceFeed::SliceFeed(QObject* parent) : QObject(parent) {
    next_.setSingleShot(true);
    next_.setInterval(0);
    connect(&next_, &QTimer::timeout, this, &SliceFeed::deliver);
}

void SliceFeed::restart() {
    next_.stop();
    delivered_ = total_ = 0;
}

void SliceFeed::extendTo(std::size_t total) {
    total_ = total;
    if (!next_.isActive()) {
        deliver();
    }
}

void SliceFeed::deliver() {
    if (delivered_ >= total_) {
        return;
    }
    const std::size_t first = delivered_;
    const std::size_t count = std::min(kSlice, total_ - first);
    delivered_ += count;
    emit slice(first, count);
    if (delivered_ < total_) {
        next_.start();
    }
}

} // namespace weft::ui
