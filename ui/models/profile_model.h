// SPDX-License-Identifier: GPL-3.0-or-later
// Where the time of recorded steps went, as rows of a table: by op, layer, kernel or phase, beside
// what was predicted and what is best, and beside another recording.
#pragma once

#include "ui/bridge/profile/open_recording.h"
#include "ui/models/table_model.h"
#include "widgets/look/number_style.h"

#include <memory>
#include <string>

namespace weft::ui {

struct ProfileRow {
    profile::Row now;     // of one that is gone only the name
    double share = 0;     // of the step
    double before_us = 0; // in the other recording
};

class ProfileModel : public TableModel<ProfileRow> {
    Q_OBJECT
public:
    enum Column {
        NameColumn,
        CallsColumn,
        ShareColumn,
        MsColumn,
        BeforeColumn,
        ChangeColumn,
        PredictedColumn,
        BestColumn,
        BoundColumn,
        ColumnCount
    };
    /// Of the step, 0 to 1: measured, and as it was predicted.
    static constexpr int kShareRole = kSortRole + 1;
    static constexpr int kPredictedRole = kSortRole + 2;

    explicit ProfileModel(QObject* parent = nullptr);

    /// Null: no rows. `before`: null where there is nothing to compare with.
    void setRecordings(const std::shared_ptr<const OpenRecording>& now,
                       const std::shared_ptr<const OpenRecording>& before,
                       profile::Grouping grouping);
    profile::Grouping grouping() const { return grouping_; }
    bool isCompared() const { return compared_; }
    /// -1: no row has this name.
    int rowOf(const std::string& name) const;

    QVariant data(const QModelIndex& index, int role) const override;

private:
    profile::Grouping grouping_ = profile::Grouping::op;
    bool compared_ = false;
    double wall_us_ = 0;
    widgets::NumberStyle ms_style_;
};

} // namespace weft::ui
