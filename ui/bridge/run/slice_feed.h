// SPDX-License-Identifier: GPL-3.0-or-later
// Hands a growing column to whoever draws it, in slices that fit into one turn of the event loop: a
// run of a million steps then never holds up the window.
#pragma once

#include <QObject>
#include <QTimer>

namespace weft::ui {

class SliceFeed : public QObject {
    Q_OBJECT
public:
    /// Points per turn; drawing four charts of them takes some milliseconds.
    static constexpr std::size_t kSlice = 32768;

    explicit SliceFeed(QObject* parent = nullptr);

    /// Begins again from the first point.
    void restart();
    /// There are `total` points now: one slice at once, the rest in the turns that follow.
    void extendTo(std::size_t total);
    std::size_t delivered() const { return delivered_; }

signals:
    /// Points [first, first + count), in order, each once since restart().
    void slice(std::size_t first, std::size_t count);

private:
    void deliver();

    QTimer next_;
    std::size_t delivered_ = 0;
    std::size_t total_ = 0;
};

} // namespace weft::ui
