// SPDX-License-Identifier: GPL-3.0-or-later
// What a layer puts out: channels of a picture side by side, positions by channels as a matrix, or
// a bar for each unit.
#pragma once

#include "ui/bridge/run/trial_host.h"

#include <QWidget>

#include <memory>

class QStackedWidget;

namespace weft::widgets {
class ChannelView;
class MatrixView;
class SegmentedControl;
class TextLabel;
class ValueBars;
} // namespace weft::widgets

namespace weft::ui {

class FeaturePart : public QWidget {
    Q_OBJECT
public:
    explicit FeaturePart(QWidget* parent = nullptr);

    void showLayer(const LookedInside& looked, int layer);

signals:
    void pointed(const QString& words);

private:
    enum Sheet { ChannelSheet, PositionSheet, UnitSheet };

    widgets::TextLabel* about_;
    widgets::SegmentedControl* scale_;
    QStackedWidget* sheets_;
    widgets::ChannelView* channels_;
    widgets::MatrixView* positions_;
    widgets::ValueBars* units_;
};

} // namespace weft::ui
