// SPDX-License-Identifier: GPL-3.0-or-later
// The runs in the charts: an eye for each, colours, and what their configurations have different.
#pragma once

#include "ui/models/overlay_model.h"

#include <QWidget>

class QLineEdit;
class QListView;
class QTableView;

namespace weft::widgets {
class EmptyState;
class SectionHeader;
class SegmentedControl;
} // namespace weft::widgets

namespace weft::ui {

class OverlayPanel : public QWidget {
    Q_OBJECT
public:
    OverlayPanel(CurveRuns& curves, RunIndex& index, QWidget* parent = nullptr);

    /// All runs or differences, up to a few, and nothing below them.
    int fittingHeight() const;

signals:
    void fittingHeightChanged();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void chooseColor(const QModelIndex& index, const QPoint& global);
    void showTab();

    CurveRuns& curves_;
    OverlayModel* model_;
    OverlayCompareModel* differences_;
    widgets::SectionHeader* header_;
    widgets::SegmentedControl* tab_;
    QLineEdit* filter_;
    QWidget* filter_row_;
    QListView* list_;
    QTableView* table_;
    widgets::EmptyState* alike_;
};

} // namespace weft::ui
