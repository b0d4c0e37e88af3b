// SPDX-License-Identifier: GPL-3.0-or-later
// How long the texts are that samples are made of, and how that goes with the model's context.
#pragma once

#include "ui/bridge/data/data_preview.h"

#include <QWidget>

namespace weft::widgets {
class BarList;
class SectionHeader;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class LengthPanel : public QWidget {
    Q_OBJECT
public:
    explicit LengthPanel(DataPreview& preview, QWidget* parent = nullptr);

private:
    void update();

    DataPreview& preview_;
    std::shared_ptr<const data::Lengths> shown_;
    widgets::SectionHeader* header_;
    widgets::BarList* bars_;
    widgets::TextLabel* note_;
};

} // namespace weft::ui
