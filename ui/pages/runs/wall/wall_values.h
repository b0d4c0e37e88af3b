// SPDX-License-Identifier: GPL-3.0-or-later
// One table with the value of every line of every chart in view, at the crosshair that they share
// or, without one, at the end of each line.
#pragma once

#include "ui/models/wall/wall_value_model.h"
#include "widgets/controls/card.h"

class QTableView;

namespace weft::widgets {
class SectionHeader;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class WallValues : public widgets::Surface {
    Q_OBJECT
public:
    explicit WallValues(QWidget* parent = nullptr);

    void setSections(std::vector<WallValueModel::Section> sections, bool deviations);
    /// `words`: "step 1,266".
    void setPlace(std::optional<double> x, const QString& words);
    QSize sizeHint() const override { return {220, 400}; }
    QSize minimumSizeHint() const override { return {150, 120}; }

protected:
    void changeEvent(QEvent* event) override;

private:
    void fit();

    widgets::SectionHeader* header_;
    widgets::TextLabel* hint_;
    WallValueModel* model_;
    QTableView* table_;
};

} // namespace weft::ui
