// SPDX-License-Identifier: GPL-3.0-or-later
// A run that another program wrote as TensorBoard event files: its scalars, and whatever else is
// there, each kind in a view; what is not shown by name.
#pragma once

#include "ui/bridge/media/media_folder.h"

#include <QWidget>

class QStackedWidget;
class QVBoxLayout;

namespace weft::widgets {
class SegmentedControl;
} // namespace weft::widgets

namespace weft::ui {

class MediaPanel;

class ForeignViews : public QWidget {
    Q_OBJECT
public:
    explicit ForeignViews(RunModel& run, QWidget* parent = nullptr);

signals:
    void exported(bool well, const QString& text);

private:
    void updateViews();
    void showView(int view);
    void showUnshown();

    RunModel& run_;
    MediaFolder media_;
    bool fresh_ = true; // nobody has looked at this run yet
    QWidget* line_;
    widgets::SegmentedControl* view_;
    QStackedWidget* pages_;
    MediaPanel* panel_;
    QVBoxLayout* unshown_;
};

} // namespace weft::ui
