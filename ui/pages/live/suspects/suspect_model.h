// SPDX-License-Identifier: GPL-3.0-or-later
// Samples that teach wrongly, the worst first, with what was decided about each.
#pragma once

#include "core/train/audit/audit.h"
#include "ui/bridge/audit/run_audit.h"
#include "ui/models/table_model.h"
#include "widgets/curves/sparkline.h"

#include <QImage>

#include <optional>

namespace weft::ui {

struct SuspectRow {
    train::Suspect suspect;
    QImage picture; // null until it is read, and where samples are none
    QString words;
    Decision decision;
};

class SuspectModel : public TableModel<SuspectRow> {
    Q_OBJECT
public:
    enum Column {
        PictureColumn,
        SampleColumn,
        LabelColumn,
        SaysColumn,
        DecisionColumn,
        BecauseColumn,
        LossColumn,
        CourseColumn,
        ColumnCount
    };
    static constexpr int kCourseRole = Qt::UserRole + 1;

    explicit SuspectModel(QObject* parent = nullptr);

    /// Those with a suspicion, or all.
    void show(std::shared_ptr<const train::Audit> audit, std::optional<train::Suspicion> only,
              const RunAudit& decisions);
    /// Of the rows that are shown.
    void setPicture(std::int64_t index, const QImage& picture, const QString& words);
    void setDecision(std::int64_t index, Decision decision);
    int rowOf(std::int64_t index) const; // -1: it is not shown

    QString className(std::int32_t label) const;
    QString decisionText(const Decision& decision) const;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    std::shared_ptr<const train::Audit> audit_;
};

/// "likely mislabelled", "nearly the same as validation 42"
QString suspicionText(const train::Suspect& suspect);

} // namespace weft::ui
