// SPDX-License-Identifier: GPL-3.0-or-later
// The big card: one button, and half a minute later a network that recognises clothes; then another
// one, to try it.
#pragma once

#include "ui/pages/home/demo.h"
#include "widgets/controls/card.h"

class QPushButton;

namespace weft::widgets {
class LineChart;
class TextLabel;
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
    void showEvent(QShowEvent* event) override;

signals:
    void failed(const QString& problem);
    void exported(bool well, const QString& text);
    void tryRequested(const std::filesystem::path& run_folder);

private:
    void lookForDemo();
    void showDemo();
    void showLastDemo();
    void startDemo();
    void updateButtons();

    Studio& studio_;
    Demo demo_;
    bool looking_ = false;
    bool wanted_ = false;            // to be started once it is found
    std::filesystem::path last_run_; // that can be tried
    widgets::TextLabel* title_;
    widgets::TextLabel* what_;
    widgets::TextLabel* needs_;
    widgets::ImageGrid* pictures_ = nullptr;
    widgets::LineChart* chart_;
    QWidget* outline_; // in its place until a demo has run
    widgets::TextLabel* chart_note_;
    QPushButton* try_;
    QPushButton* start_;
};

} // namespace weft::ui
