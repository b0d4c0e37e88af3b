// SPDX-License-Identifier: GPL-3.0-or-later
// The trials of a sweep: a column for each setting that varies, and for each rung what they had
// reached there.
#pragma once

#include "core/queue/view.h"

#include <QAbstractTableModel>

#include <memory>

namespace weft::ui {

/// A setting's name as a column has it: "learning_rate" of "optimizer.learning_rate", as far as no
/// other of the sweep ends alike.
QString shortSettingName(const std::string& path, const std::vector<std::string>& all);
/// "at 27"
QString rungText(const queue::Sweep& sweep, std::size_t rung);

class SweepModel : public QAbstractTableModel {
    Q_OBJECT
public:
    static constexpr int kSortRole = Qt::UserRole;

    explicit SweepModel(QObject* parent = nullptr);

    /// `table` lies in `book`; null: nothing. Where settings, rungs and trials are the same, their
    /// rows stay.
    void setTable(std::shared_ptr<const queue::Book> book, const queue::SweepTable& table);
    void clear();
    const queue::SweepTable& table() const { return table_; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    // Columns: trial, settings, rungs, state.
    int settings() const { return static_cast<int>(table_.settings.size()); }
    int rungs() const {
        return table_.sweep == nullptr ? 0 : static_cast<int>(table_.sweep->rungs.size());
    }
    int stateColumn() const { return 1 + settings() + rungs(); }
    /// -1: it is no rung.
    int rungOf(int column) const;
    QString textOf(const queue::TrialRow& row, int column) const;
    QVariant keyOf(const queue::TrialRow& row, int column) const;

    std::shared_ptr<const queue::Book> book_;
    queue::SweepTable table_;
};

} // namespace weft::ui
