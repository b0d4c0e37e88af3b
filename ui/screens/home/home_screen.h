// SPDX-License-Identifier: GPL-3.0-or-later
// Home: what to do first. Recovery after a crash leads, then the demo, presets and recent runs.
#pragma once

#include "ui/screens/screen.h"

class QBoxLayout;

namespace weft::widgets {
class Banner;
}

namespace weft::ui {

class DemoCard;
class PresetRow;
class RecentRuns;

class HomeScreen : public Screen {
    Q_OBJECT
public:
    HomeScreen(Studio& studio, Actions& actions);

    void activated() override;
    bool editsDraft() const override { return true; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* createDropZone(Actions& actions);
    void arrange();
    void updateRecovery();
    void openPath(const QString& path);
    void report(const QString& problem);

    Studio& studio_;
    widgets::Banner* recovery_;
    QBoxLayout* top_;
    DemoCard* demo_;
    PresetRow* presets_;
    RecentRuns* recent_;
};

} // namespace weft::ui
