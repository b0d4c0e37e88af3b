// SPDX-License-Identifier: GPL-3.0-or-later
// The checkpoints of a run as a table that any column sorts, whose columns leave, the least telling
// first, where it gets narrow. Rows are those of the model, however they are sorted.
#pragma once

#include <QSortFilterProxyModel>
#include <QTableView>
#include <QTimer>

namespace weft::ui {

class CheckpointModel;
struct CheckpointRow;

class CheckpointTable : public QTableView {
    Q_OBJECT
public:
    explicit CheckpointTable(CheckpointModel& model, QWidget* parent = nullptr);

    const CheckpointRow& row(const QModelIndex& shown) const;
    /// Of the badge: what it is best in, where there is room for that.
    QString bestText() const;
    /// -1 when there is none.
    int currentRow() const;
    void chooseRow(int row);
    /// In rising order.
    std::vector<int> selectedRowNumbers() const;
    /// Rows of these steps, beside what is selected.
    void alsoSelect(const std::vector<std::int64_t>& steps);

protected:
    /// Without a row it says so.
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void fitColumns();
    void fitMetric();
    void fitBadges();
    int roomForReasons() const;
    bool hasProblems() const;
    double widthOfReasons() const;

    const CheckpointModel& checkpoints_;
    QSortFilterProxyModel sorted_;
    QTimer fitting_;
    bool names_best_ = false;
};

} // namespace weft::ui
