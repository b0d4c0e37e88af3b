// SPDX-License-Identifier: GPL-3.0-or-later
// The entries of the queue, in the order in which they are started.
#pragma once

#include "core/queue/view.h"
#include "ui/models/table_model.h"

namespace weft::ui {

/// "running", "stopped early: place 5 of 12 at step 3"
QString queueStateText(const queue::Entry& entry);

class QueueModel : public TableModel<queue::EntryView> {
    Q_OBJECT
public:
    enum Column {
        NumberColumn,
        NameColumn,
        StateColumn,
        StepColumn,
        LeftColumn,
        LossColumn,
        DevicesColumn,
        ColumnCount
    };

    explicit QueueModel(QObject* parent = nullptr);

    /// Where the entries are the same, their rows stay. False: they are others.
    bool setEntries(std::vector<queue::EntryView> entries);
    int rowOf(std::int64_t id) const; // -1 when there is none

    QVariant data(const QModelIndex& index, int role) const override;
};

} // namespace weft::ui
