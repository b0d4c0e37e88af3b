// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/finding_model.h"

#include "core/base/text.h"
#include "ui/bridge/convert.h"
#include "widgets/look/painting.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace weft::ui {
namespace {

using sharding::Finding;

/// "optimizer.m/NAME" lies as NAME does.
std::string ownerOf(const std::string& array) {
    return array.substr(array.find('/') + 1);
}

QString whyOf(const Finding& finding) {
    const QString devices = FindingModel::tr("%1 devices (%2)")
                                .arg(finding.devices)
                                .arg(toQString(join(finding.axes, ", ")));
    if (finding.kind == Finding::Kind::uneven) {
        return FindingModel::tr("%1 do not divide over %2")
            .arg(formatCount(finding.units), devices);
    }
    return finding.dim < 0 ? FindingModel::tr("no dimension splits over %1").arg(devices)
                           : FindingModel::tr("%1 cannot be split over %2")
                                 .arg(formatCount(finding.units), devices);
}

FindingRow findingRow(const Finding& finding) {
    FindingRow out;
    out.kind =
        finding.kind == Finding::Kind::uneven ? FindingRow::Kind::Padded : FindingRow::Kind::Whole;
    out.tensor = toQString(ownerOf(finding.array));
    out.where = withoutNumbers(out.tensor);
    out.why = whyOf(finding);
    out.story =
        out.where + QLatin1Char(' ') + toQString(sharding::message_of(finding)) + QLatin1Char('.');
    if (finding.fixes.empty()) {
        out.story += QLatin1Char(' ') + toQString(sharding::hint_of(finding));
    }
    out.fixes = finding.fixes;
    return out;
}

FindingRow memoryRow(const plan::ExecutionPlan& plan) {
    FindingRow out;
    out.kind = FindingRow::Kind::Memory;
    out.where = FindingModel::tr("memory");
    out.bytes = plan.memory_bytes() - *plan.limit_bytes;
    out.why = FindingModel::tr("%1 are needed, and there are %2")
                  .arg(widgets::formatMemory(plan.memory_bytes()),
                       widgets::formatMemory(*plan.limit_bytes));
    out.story = FindingModel::tr("The plan does not fit: %1 (%2).")
                    .arg(out.why, toQString(plan.limit_basis));
    return out;
}

QString kindText(const FindingRow& row) {
    return row.kind == FindingRow::Kind::Memory  ? FindingModel::tr("does not fit")
           : row.kind == FindingRow::Kind::Whole ? FindingModel::tr("kept whole")
                                                 : FindingModel::tr("padded");
}

QString whereText(const FindingRow& row) {
    return row.count > 1 ? FindingModel::tr("%1 (%2)").arg(row.where).arg(row.count) : row.where;
}

} // namespace

FindingModel::FindingModel(QObject* parent) : TableModel(parent) {
    using widgets::TextStyle;
    const auto story = [](const FindingRow& row) { return row.story; };
    describe({{.title = tr("what"), .text = kindText, .spoken = story},
              {.title = tr("where"), .text = whereText, .font = TextStyle::Mono},
              {.title = tr("lost a device"),
               .text = [](const FindingRow& row) { return widgets::formatMemory(row.bytes); },
               .number = true},
              {.title = tr("why"), .text = [](const FindingRow& row) { return row.why; }}},
             story);
}

void FindingModel::setDigest(std::shared_ptr<const PlanDigest> digest) {
    beginResetModel();
    rows_.clear();
    std::map<std::tuple<QString, int, int, std::int64_t>, std::size_t> known;
    for (const Finding& finding : digest ? digest->plan->findings : std::vector<Finding>()) {
        FindingRow made = findingRow(finding);
        const auto [found, is_new] = known.try_emplace(
            {made.where, static_cast<int>(finding.kind), finding.dim, finding.devices},
            rows_.size());
        if (is_new) {
            rows_.push_back(std::move(made));
        } else {
            rows_[found->second].count += 1;
        }
        const bool padding = finding.kind == Finding::Kind::uneven;
        rows_[found->second].bytes +=
            padding ? finding.bytes / digest->plan->mesh.devices() : finding.bytes;
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const FindingRow& a, const FindingRow& b) { return a.bytes > b.bytes; });
    if (digest && !digest->plan->fits()) {
        rows_.insert(rows_.begin(), memoryRow(*digest->plan));
    }
    endResetModel();
}

void FindingModel::setMemoryFixes(const std::vector<plan::Alternative>& fixes) {
    if (rows_.empty() || rows_.front().kind != FindingRow::Kind::Memory) {
        return;
    }
    rows_.front().fixes.clear();
    for (const plan::Alternative& fix : fixes) {
        rows_.front().fixes.push_back({fix.change, fix.overrides});
    }
    emit dataChanged(index(0, 0), index(0, ColumnCount - 1));
}

QVariant FindingModel::data(const QModelIndex& index, int role) const {
    const bool wrong =
        index.column() == WhatColumn && row(index.row()).kind == FindingRow::Kind::Memory;
    return role == Qt::ForegroundRole && wrong
               ? QVariant(widgets::Theme::current().color(widgets::Role::Error))
               : TableModel::data(index, role);
}

} // namespace weft::ui
