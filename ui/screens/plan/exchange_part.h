// SPDX-License-Identifier: GPL-3.0-or-later
// What the devices of a mesh say to each other in a training step, why, and what it costs.
#pragma once

#include "ui/bridge/plan_digest.h"

#include <QWidget>

#include <memory>

class QPushButton;
class QSortFilterProxyModel;
class QStackedWidget;
class QTableView;

namespace weft::widgets {
class EmptyState;
class SectionHeader;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class ExchangeModel;

class ExchangePart : public QWidget {
    Q_OBJECT
public:
    explicit ExchangePart(QWidget* parent = nullptr);

    void setDigest(std::shared_ptr<const PlanDigest> digest);
    void setStale(bool stale);
    /// Selects the row of an op without asking for it; none for an op that is no exchange.
    void showOp(int op);

signals:
    /// The user chose a row: its first op in the digest's program. Rows of other stages have none.
    void opChosen(int step_position);
    /// There is one device, and the user wants several.
    void simulateRequested();

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* createTable();
    void describe();
    void explain();
    int selectedRow() const;
    void arrangeColumns();

    std::shared_ptr<const PlanDigest> digest_;
    bool settling_ = false; // rows change by themselves: what the table makes current is no choice
    widgets::SectionHeader* header_;
    QStackedWidget* stack_;
    widgets::EmptyState* empty_;
    QPushButton* simulate_;
    ExchangeModel* model_;
    QSortFilterProxyModel* proxy_;
    QTableView* table_;
    widgets::TextLabel* why_;
};

} // namespace weft::ui
