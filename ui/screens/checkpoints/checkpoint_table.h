// SPDX-License-Identifier: GPL-3.0-or-later
// The checkpoints of a run as a table whose columns leave, the least telling first, where it gets
// narrow.
#pragma once

#include <QTableView>
#include <QTimer>

namespace weft::ui {

class CheckpointModel;

class CheckpointTable : public QTableView {
    Q_OBJECT
public:
    explicit CheckpointTable(CheckpointModel& model, QWidget* parent = nullptr);

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
    bool hasRoomForReasons() const;

    const CheckpointModel& checkpoints_;
    QTimer fitting_;
};

} // namespace weft::ui
