// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/profile_model.h"

#include "ui/bridge/convert.h"

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

constexpr double kFarFromBest = 3; // times its best time

QString stepShareText(double share) {
    return ProfileModel::tr("%1 %").arg(100 * share, 0, 'f', 1);
}

} // namespace

ProfileModel::ProfileModel(QObject* parent) : TableModel(parent) {
    using Row = ProfileRow;
    using widgets::Role;
    const auto ms = [this](double us) { return us > 0 ? ms_style_.text(us / 1e3) : QString(); };
    const auto change = [this](const Row& row) {
        const double us = row.now.us - row.before_us;
        return (us > 0 ? QStringLiteral("+") : QString()) + ms_style_.text(us / 1e3);
    };
    const auto tip = [this](const Row& row) {
        QString text = tr("%1: %2 ms of a step of each device, %3 calls")
                           .arg(toQString(row.now.name), ms_style_.text(row.now.us / 1e3))
                           .arg(row.now.calls, 0, 'g', 4);
        if (row.now.waited_us > 0) {
            text += tr(", of it %1 ms waiting for other devices")
                        .arg(ms_style_.text(row.now.waited_us / 1e3));
        }
        if (row.now.best_us > 0) {
            text += tr(". At the ceilings of the machine it would take %1 ms.")
                        .arg(ms_style_.text(row.now.best_us / 1e3));
        }
        return text;
    };
    describe({{.title = tr("op"),
               .text = [](const Row& row) { return toQString(row.now.name); },
               .spoken = tip},
              {.title = tr("calls"),
               .text = [](const Row& row) { return QString::number(row.now.calls, 'g', 6); },
               .number = true,
               .key = [](const Row& row) { return row.now.calls; },
               .title_tip = tr("In one step of one device")},
              {.title = tr("share"),
               .text = [](const Row& row) { return stepShareText(row.share); },
               .key = [](const Row& row) { return row.share; },
               .title_tip = tr("Of the step, measured; the line in the bar is what was predicted")},
              {.title = tr("ms"),
               .text = [ms](const Row& row) { return ms(row.now.us); },
               .number = true,
               .key = [](const Row& row) { return row.now.us; },
               .title_tip = tr("Measured, in one step of one device")},
              {.title = tr("before"),
               .text = [ms](const Row& row) { return ms(row.before_us); },
               .number = true,
               .key = [](const Row& row) { return row.before_us; },
               .title_tip = tr("Milliseconds in the other recording")},
              {.title = tr("change"),
               .text = change,
               .number = true,
               .key = [](const Row& row) { return std::abs(row.now.us - row.before_us); },
               .title_tip = tr("Milliseconds more than before, or fewer")},
              {.title = tr("predicted"),
               .text = [ms](const Row& row) { return ms(row.now.predicted_us); },
               .number = true,
               .key = [](const Row& row) { return row.now.predicted_us; },
               .title_tip = tr("Milliseconds, by the plan")},
              {.title = tr("× best"),
               .text =
                   [](const Row& row) {
                       return row.now.best_us > 0 ? tr("%1×").arg(row.now.times_best(), 0, 'f', 1)
                                                  : QString();
                   },
               .number = true,
               .key = [](const Row& row) { return row.now.times_best(); },
               .title_tip = tr("Measured over the best time at the ceilings of the machine")},
              {.title = tr("bound by"),
               .text = [](const Row& row) { return toQString(row.now.bound); },
               .color = Role::Muted}},
             tip);
}

void ProfileModel::setRecordings(const std::shared_ptr<const OpenRecording>& now,
                                 const std::shared_ptr<const OpenRecording>& before,
                                 profile::Grouping grouping) {
    beginResetModel();
    grouping_ = grouping;
    compared_ = now && before;
    rows_.clear();
    std::vector<double> times;
    if (now) {
        const profile::TimeTable& table = now->table(grouping);
        wall_us_ = std::max(table.mean.wall_us, 1e-9);
        for (const profile::Row& row : table.rows) {
            rows_.push_back({row, row.us / wall_us_, 0});
            times.push_back(row.us / 1e3);
        }
        if (before) {
            for (const profile::ChangedRow& changed :
                 profile::compare(before->table(grouping), table)) {
                const int at = rowOf(changed.name);
                if (at < 0) {
                    rows_.push_back({{.name = changed.name}, 0, changed.before_us});
                } else {
                    rows_[static_cast<std::size_t>(at)].before_us = changed.before_us;
                }
            }
        }
    }
    const QString titles[kGroupings] = {tr("op"), tr("layer"), tr("kernel"), tr("phase")};
    setTitle(NameColumn, titles[static_cast<int>(grouping)]);
    ms_style_ = widgets::NumberStyle(std::move(times));
    endResetModel();
}

int ProfileModel::rowOf(const std::string& name) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(),
                                    [&](const ProfileRow& row) { return row.now.name == name; });
    return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

QVariant ProfileModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) {
        return {};
    }
    const ProfileRow& shown = row(index.row());
    if (role == kShareRole) {
        return shown.share;
    }
    if (role == kPredictedRole) {
        return shown.now.predicted_us / wall_us_;
    }
    const bool far = index.column() == BestColumn && shown.now.times_best() >= kFarFromBest;
    const bool slower = index.column() == ChangeColumn && shown.now.us > shown.before_us;
    if (role == Qt::ForegroundRole && (far || slower)) {
        return widgets::Theme::current().color(widgets::Role::Warning);
    }
    return TableModel::data(index, role);
}

} // namespace weft::ui
