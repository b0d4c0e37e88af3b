// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/collective_model.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/plan/tensor_tiles.h"
#include "widgets/controls/delegates/mark_delegate.h"

#include <algorithm>
#include <utility>

namespace weft::ui {
namespace {

QStringList axesOf(const plan::Collective& one) {
    QStringList out;
    for (const std::string& axis : one.axes) {
        out.append(toQString(axis));
    }
    return out;
}

QString countText(double count) {
    return formatCount(static_cast<std::int64_t>(count + 0.5));
}

} // namespace

CollectiveModel::CollectiveModel(QObject* parent)
    : TableModel(parent), found_(std::make_shared<CollectiveRows>()) {
    using Row = CollectiveRow;
    using widgets::Role;
    const auto axes = [](const Row& row) { return axesOf(row.first).join(QStringLiteral(" × ")); };
    const auto what = [](const Row& row) {
        return withoutPrefix(row.what).replace(QLatin1String("gradient of "), tr("grad of "));
    };
    const auto bytes = [](const Row& row) {
        return (row.mixed ? QStringLiteral("≤ ") : QString()) + shortMemory(row.array_bytes);
    };
    const auto ms = [this](const Row& row) {
        return row.predicted_ms > 0 ? ms_style_.text(row.predicted_ms / row.count) : QString();
    };
    describe({{.title = tr("kind"),
               .text = [](const Row& row) { return collectiveName(row.first.kind); },
               .spoken = story},
              {.title = tr("axis"), .text = axes},
              {.title = tr("what"), .text = what},
              {.title = tr("bytes"),
               .text = bytes,
               .number = true,
               .key = [](const Row& row) { return static_cast<qlonglong>(row.array_bytes); }},
              {.title = tr("a step"),
               .text = [](const Row& row) { return countText(row.count); },
               .number = true,
               .key = [](const Row& row) { return row.count; }},
              {.title = tr("ms each"),
               .text = ms,
               .number = true,
               .key = [](const Row& row) { return row.predicted_ms / row.count; }},
              {.title = tr("why"),
               .text = [](const Row& row) { return withoutPrefix(row.why); },
               .color = Role::Accent},
              {.title = tr("phase"),
               .text = [](const Row& row) { return toQString(ir::phase_name(row.first.phase)); },
               .color = Role::Muted,
               .key = [](const Row& row) { return static_cast<int>(row.first.phase); }},
              {.title = tr("hidden by"),
               .text = [](const Row& row) { return toQString(row.first.overlaps); },
               .color = Role::Muted}},
             story);
}

void CollectiveModel::setDigest(const std::shared_ptr<const PlanDigest>& digest) {
    beginResetModel();
    running_ = -1;
    found_ = digest ? digest->collectives : std::make_shared<CollectiveRows>();
    rows_ = found_->rows;
    timed_ = std::any_of(rows_.begin(), rows_.end(),
                         [](const CollectiveRow& row) { return row.predicted_ms > 0; });
    std::vector<double> times;
    for (const CollectiveRow& row : rows_) {
        times.push_back(row.predicted_ms / row.count);
    }
    ms_style_ = millisecondStyle(std::move(times));
    endResetModel();
}

void CollectiveModel::setRunning(int row) {
    if (row == running_) {
        return;
    }
    const int before = running_;
    running_ = row;
    for (const int changed : {before, row}) {
        if (changed >= 0) {
            const QModelIndex index = this->index(changed, KindColumn);
            emit dataChanged(index, index, {kRunningRole, Qt::AccessibleTextRole});
        }
    }
}

int CollectiveModel::rowOf(int op) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(), [op](const CollectiveRow& row) {
        return std::binary_search(row.ops.begin(), row.ops.end(), op);
    });
    return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

QString CollectiveModel::story(const CollectiveRow& shown) {
    const std::string& kind = shown.first.kind;
    const QString does =
        kind == "all_reduce"       ? tr("adds up what %1 devices along %2 have")
        : kind == "reduce_scatter" ? tr("adds up what %1 devices along %2 have, a part on each")
        : kind == "all_gather"     ? tr("gives %1 devices along %2 the parts that each of them has")
        : kind == "all_to_all"     ? tr("splits an array of %1 devices along %2 another way")
        : kind == "permute"        ? tr("passes parts on around %1 devices along %2")
                                   : tr("passes results on between %1 stages along %2");
    QString out =
        tr("%1 of %2: %3, because %4.")
            .arg(collectiveName(kind), shown.what,
                 does.arg(shown.first.devices).arg(axesOf(shown.first).join(" × ")), shown.why);
    const QString phase = toQString(ir::phase_name(shown.first.phase));
    const QString reader = toQString(withAnyNumber(shown.first.cause));
    out += QLatin1Char(' ') + (reader == shown.why || shown.first.cause.starts_with("gradient/")
                                   ? tr("In the %1").arg(phase)
                                   : tr("In the %1, for %2").arg(phase, reader));
    out += (shown.many_stages ? tr(", %1 a step sent by all stages together.")
                              : tr(", %1 a step sent by each device."))
               .arg(widgets::formatMemory(shown.sent_bytes));
    if (!shown.first.overlaps.empty()) {
        out += tr(" Hidden by work of the %1.").arg(toQString(shown.first.overlaps));
    }
    return out;
}

QVariant CollectiveModel::data(const QModelIndex& index, int role) const {
    const bool runs = index.column() == KindColumn && index.row() == running_;
    switch (role) {
    case kRunningRole: return runs ? widgets::MarkDelegate::Dot : widgets::MarkDelegate::None;
    case kAxesRole: return axesOf(row(index.row()).first);
    case Qt::AccessibleTextRole:
        if (runs) {
            return tr("Runs now. ") + story(row(index.row()));
        }
        break;
    default: break;
    }
    return TableModel::data(index, role);
}

} // namespace weft::ui
