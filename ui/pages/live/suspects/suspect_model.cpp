// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/suspects/suspect_model.h"

#include "ui/bridge/convert.h"

#include <algorithm>

namespace weft::ui {
namespace {

using Kind = Decision::Kind;
using train::Suspicion;

QString twinText(const train::Twin& twin) {
    const QString other =
        SuspectModel::tr("%1 %2").arg(toQString(twin.part), formatCount(twin.index));
    return twin.exact ? SuspectModel::tr("the same as %1").arg(other)
                      : SuspectModel::tr("nearly the same as %1").arg(other);
}

} // namespace

QString suspicionText(const train::Suspect& suspect) {
    QStringList parts;
    bool twin_told = false;
    for (const Suspicion reason : suspect.reasons) {
        if (reason == Suspicion::mislabelled) {
            parts << SuspectModel::tr("likely mislabelled");
        } else if (reason == Suspicion::hard) {
            parts << SuspectModel::tr("high loss");
        } else if (!twin_told && !suspect.twins.empty()) {
            parts << twinText(suspect.twins.front());
            twin_told = true;
        }
    }
    return parts.join(QStringLiteral(", "));
}

SuspectModel::SuspectModel(QObject* parent) : TableModel(parent) {
    describe(
        {{.text = // room for the picture, where there is one
          [](const SuspectRow& row) {
              return QString(row.picture.isNull() ? 0 : 2, QChar(u'\u2003'));
          },
          .spoken =
              [](const SuspectRow& row) { return tr("picture of %1").arg(row.suspect.index); }},
         {.title = tr("sample"),
          .text = [](const SuspectRow& row) { return QString::number(row.suspect.index); },
          .number = true},
         {.title = tr("label"),
          .text = [this](const SuspectRow& row) { return className(row.suspect.label); }},
         {.title = tr("network says"),
          .text =
              [this](const SuspectRow& row) {
                  return row.suspect.says < 0 ? QString()
                                              : tr("%1, %2 %")
                                                    .arg(className(row.suspect.says))
                                                    .arg(qRound(100 * row.suspect.confidence));
              }},
         {.title = tr("decision"),
          .text = [this](const SuspectRow& row) { return decisionText(row.decision); }},
         {.title = tr("because"),
          .text = [](const SuspectRow& row) { return suspicionText(row.suspect); }},
         {.title = tr("mean loss"),
          .text = [](const SuspectRow& row) { return formatMetric(row.suspect.mean_loss); },
          .number = true},
         {.title = tr("loss by checkpoint"), .text = [](const SuspectRow&) { return QString(); }}},
        [](const SuspectRow& row) { return row.words; });
}

QString SuspectModel::className(std::int32_t label) const {
    const auto at = static_cast<std::size_t>(label);
    return label < 0 ? QString()
           : audit_ != nullptr && at < audit_->class_names.size()
               ? toQString(audit_->class_names[at])
               : QString::number(label);
}

QString SuspectModel::decisionText(const Decision& decision) const {
    switch (decision.kind) {
    case Kind::None: return {};
    case Kind::Keep: return tr("kept");
    case Kind::Exclude: return tr("left out");
    case Kind::Label: return tr("is %1").arg(className(decision.label));
    }
    return {};
}

void SuspectModel::show(std::shared_ptr<const train::Audit> audit, std::optional<Suspicion> only,
                        const RunAudit& decisions) {
    beginResetModel();
    audit_ = std::move(audit);
    rows_.clear();
    for (const train::Suspect& one : audit_ ? audit_->suspects : std::vector<train::Suspect>()) {
        const bool fits =
            !only || std::find(one.reasons.begin(), one.reasons.end(), *only) != one.reasons.end();
        if (fits) {
            rows_.push_back({one, {}, {}, decisions.decision(one.index)});
        }
    }
    endResetModel();
}

int SuspectModel::rowOf(std::int64_t index) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(), [index](const SuspectRow& row) {
        return row.suspect.index == index;
    });
    return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

void SuspectModel::setPicture(std::int64_t index, const QImage& picture, const QString& words) {
    if (const int row = rowOf(index); row >= 0) {
        rows_[static_cast<std::size_t>(row)].picture = picture;
        rows_[static_cast<std::size_t>(row)].words = words;
        emit dataChanged(this->index(row, 0), this->index(row, ColumnCount - 1));
    }
}

void SuspectModel::setDecision(std::int64_t index, Decision decision) {
    if (const int row = rowOf(index); row >= 0) {
        rows_[static_cast<std::size_t>(row)].decision = decision;
        emit dataChanged(this->index(row, 0), this->index(row, ColumnCount - 1));
    }
}

QVariant SuspectModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) {
        return {};
    }
    const SuspectRow& shown = row(index.row());
    if (role == kCourseRole && index.column() == CourseColumn) {
        widgets::SparklineData course;
        course.y = shown.suspect.loss;
        return QVariant::fromValue(course);
    }
    if (role == Qt::DecorationRole && index.column() == PictureColumn && !shown.picture.isNull()) {
        return shown.picture;
    }
    if (role == Qt::ForegroundRole && index.column() == DecisionColumn) {
        const widgets::Role color = shown.decision.kind == Kind::Exclude ? widgets::Role::Warning
                                    : shown.decision.kind == Kind::Label ? widgets::Role::Accent
                                                                         : widgets::Role::Muted;
        return widgets::Theme::current().color(color);
    }
    return TableModel::data(index, role);
}

} // namespace weft::ui
