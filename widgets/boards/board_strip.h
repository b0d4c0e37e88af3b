// SPDX-License-Identifier: GPL-3.0-or-later
// Some moments of a board beside each other, each with a line above and one below; one is chosen.
#pragma once

#include "widgets/boards/board.h"
#include "widgets/views/painted_view.h"

namespace weft::widgets {

struct BoardMoment {
    Board board;
    QString title;     // "H 9 · step 3"
    QString state;     // at the right of it: "5 wrong"
    bool good = false; // of the state: nothing is wrong
    QString note;      // below: "13 changed"
};

class BoardStrip : public PaintedView {
    Q_OBJECT
public:
    explicit BoardStrip(QWidget* parent = nullptr);

    void setMoments(std::vector<BoardMoment> moments);
    const std::vector<BoardMoment>& moments() const { return moments_; }
    void setChosen(int index);
    int chosen() const { return chosen_; }
    /// How many moments fit beside each other.
    int capacity() const;

    int itemCount() const override { return static_cast<int>(moments_.size()); }
    ViewItem item(int index) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {160, sizeHint().height()}; }

signals:
    void capacityChanged();

protected:
    void paintScene(QPainter& painter, const QSizeF& view_size) const override;
    void resizeEvent(QResizeEvent* event) override;

private:
    double momentWidth() const;

    std::vector<BoardMoment> moments_;
    int chosen_ = -1;
};

} // namespace weft::widgets
