// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of another host, the newest first.
#pragma once

#include "core/hosts/remote.h"
#include "ui/models/table_model.h"

#include <string>

namespace weft::ui {

class HostRunModel : public TableModel<hosts::RemoteRun> {
    Q_OBJECT
public:
    enum Column {
        NameColumn,
        StateColumn,
        StepColumn,
        LossColumn,
        BestColumn,
        SavedColumn,
        WhenColumn,
        ColumnCount
    };

    explicit HostRunModel(QObject* parent = nullptr);

    /// Where the runs are the same, their rows stay. False: they are others.
    bool setRuns(std::vector<hosts::RemoteRun> runs);
    int rowOf(const std::string& folder) const; // -1 when there is none

    QVariant data(const QModelIndex& index, int role) const override;
};

} // namespace weft::ui
