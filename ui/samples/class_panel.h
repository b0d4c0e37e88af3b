// SPDX-License-Identifier: GPL-3.0-or-later
// How many samples there are of each class; a click shows only those.
#pragma once

#include "ui/bridge/data/data_preview.h"

#include <QWidget>

namespace weft::widgets {
class BarList;
class SectionHeader;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class ClassPanel : public QWidget {
    Q_OBJECT
public:
    explicit ClassPanel(DataPreview& preview, QWidget* parent = nullptr);

private:
    void update();

    DataPreview& preview_;
    std::shared_ptr<const SplitFacts> shown_;
    widgets::SectionHeader* header_;
    widgets::BarList* bars_;
    widgets::TextLabel* note_;
};

} // namespace weft::ui
