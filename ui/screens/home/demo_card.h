// SPDX-License-Identifier: GPL-3.0-or-later
// The big card: one button, and half a minute later a network that recognises clothes.
#pragma once

#include "widgets/card.h"
#include "widgets/image_grid.h"

class QPushButton;

namespace weft::widgets {
class LineChart;
class ElidedLabel;
} // namespace weft::widgets

namespace weft::ui {

class Studio;

class DemoCard : public widgets::Card {
    Q_OBJECT
public:
    /// At text size 1; a page has no use for more.
    static constexpr int kMostHeight = 328;

    explicit DemoCard(Studio& studio, QWidget* parent = nullptr);

protected:
    void changeEvent(QEvent* event) override;

signals:
    void failed(const QString& problem);

private:
    void loadPictures();
    void showLastDemo();
    void startDemo();
    void updateButton();

    Studio& studio_;
    widgets::ImageGrid* pictures_ = nullptr;
    widgets::LineChart* chart_;
    widgets::ElidedLabel* chart_note_;
    QPushButton* start_;
};

} // namespace weft::ui
