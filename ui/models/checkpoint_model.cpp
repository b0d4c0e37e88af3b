// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/checkpoint_model.h"

#include "core/base/text.h"
#include "ui/bridge/convert.h"
#include "widgets/look/theme.h"

#include <QDateTime>
#include <QLocale>

#include <algorithm>
#include <map>

namespace weft::ui {
namespace {

std::optional<double> metric_of(const config::Json& metrics, const std::string& name) {
    const auto found = metrics.find(name);
    return found != metrics.end() && found->is_number() ? std::optional(found->get<double>())
                                                        : std::nullopt;
}

std::optional<double> metric_at(const RunModel& run, std::int64_t step, const std::string& name) {
    const std::vector<EvaluationPoint>& points = run.evaluations(); // in order of steps
    const auto at = static_cast<double>(step);
    auto point = std::lower_bound(points.begin(), points.end(), at,
                                  [](const EvaluationPoint& a, double b) { return a.step < b; });
    for (; point != points.end() && point->step == at; ++point) {
        for (const auto& [metric, value] : point->metrics) {
            if (metric == name) {
                return value;
            }
        }
    }
    return std::nullopt;
}

void fill_from_steps(CheckpointRow& row, const RunModel& run) {
    const StepSeries& steps = run.steps();
    const auto found =
        std::lower_bound(steps.step.begin(), steps.step.end(), static_cast<double>(row.step));
    if (found != steps.step.end() && *found == static_cast<double>(row.step)) {
        const auto at = static_cast<std::size_t>(found - steps.step.begin());
        row.train_loss = steps.loss[at];
        row.epoch = steps.epoch[at];
    }
}

CheckpointRow row_of(const checkpoint::Entry& entry, const RunModel& run) {
    CheckpointRow row;
    row.step = entry.step;
    row.on_disk = true;
    row.problem = entry.problem;
    row.path = entry.path;
    row.bytes = entry.bytes;
    row.saved_time = entry.saved_time;
    row.record = entry.record;
    row.epoch = entry.record.epoch;
    row.kept_for = join(entry.record.kept_for, ", ");
    row.looked_into = entry.looked_into;
    row.pinned = std::find(entry.record.kept_for.begin(), entry.record.kept_for.end(),
                           checkpoint::kByHand) != entry.record.kept_for.end();
    fill_from_steps(row, run);
    // A metric belongs to a checkpoint only when it was measured at its step.
    if (entry.record.metric_step == entry.step) {
        row.metric = metric_of(entry.record.metrics, run.config().checkpoint_metric);
    }
    return row;
}

/// "14:02:31" of today; on other days their date, so that it is said which of them.
QString momentText(double utc_seconds) {
    const QDateTime when = QDateTime::fromSecsSinceEpoch(static_cast<qint64>(utc_seconds));
    const QDate today = QDate::currentDate();
    return QLocale().toString(when, when.date() == today                 ? "HH:mm:ss"
                                    : when.date().year() == today.year() ? "d MMM HH:mm"
                                                                         : "d MMM yyyy HH:mm");
}

QString dash() {
    return QStringLiteral("–");
}

QString storyOf(const CheckpointRow& row) {
    if (!row.problem.empty()) {
        return toQString(row.problem);
    }
    const QString where = row.on_disk
                              ? pathText(row.path)
                              : CheckpointModel::tr("removed by retention, its metrics are kept");
    return row.cost ? where + "\n" + saveCostText(*row.cost) : where;
}

QString keptForText(const CheckpointRow& row) {
    return !row.looked_into       ? CheckpointModel::tr("reading …")
           : !row.problem.empty() ? CheckpointModel::tr("not usable")
           : row.on_disk          ? toQString(row.kept_for)
                                  : CheckpointModel::tr("pruned");
}

QString sizeText(const CheckpointRow& row) {
    return row.on_disk && row.looked_into ? formatFileSize(row.bytes) : dash();
}

QString savedText(const CheckpointRow& row) {
    return row.on_disk && row.saved_time > 0 ? momentText(row.saved_time) : dash();
}

/// None is sorted behind all others.
QVariant numberKey(const std::optional<double>& value) {
    return value ? QVariant(*value) : QVariant();
}

} // namespace

QString saveCostText(const train::CheckpointEvent& saved) {
    const auto ms = [](double value) {
        return CheckpointModel::tr("%1 ms").arg(value, 0, 'f', value < 10 ? 1 : 0);
    };
    QString out = CheckpointModel::tr("written in %1, training waited %2")
                      .arg(ms(saved.write_ms), ms(saved.blocked_ms));
    if (saved.waited_ms >= 1) {
        out += CheckpointModel::tr(" (%1 for the save before)").arg(ms(saved.waited_ms));
    }
    if (saved.step_before_ms && saved.step_during_ms && saved.step_longest_ms) {
        out += CheckpointModel::tr(", a step took %1 meanwhile and %2 before (the longest %3)")
                   .arg(ms(*saved.step_during_ms), ms(*saved.step_before_ms),
                        ms(*saved.step_longest_ms));
    }
    return out;
}

CheckpointModel::CheckpointModel(QObject* parent) : TableModel(parent) {
    using Row = CheckpointRow;
    using widgets::TextStyle;
    describe(
        {{.title = tr("step"),
          .text = [](const Row& row) { return formatCount(row.step); },
          .number = true,
          .key = [](const Row& row) { return static_cast<qlonglong>(row.step); }},
         {.title = tr("epoch"),
          .text = [](const Row& row) { return QString::number(row.epoch, 'f', 2); },
          .number = true,
          .key = [](const Row& row) { return row.epoch; }},
         {.title = tr("train loss"),
          .text =
              [this](const Row& row) {
                  return row.train_loss ? loss_style_.text(*row.train_loss) : dash();
              },
          .number = true,
          .key = [](const Row& row) { return numberKey(row.train_loss); }},
         {.text =
              [this](const Row& row) {
                  return row.metric ? metric_style_.text(*row.metric) : dash();
              },
          .number = true,
          .key = [](const Row& row) { return numberKey(row.metric); }},
         {.text = [this](const Row& row) { return badgeText(row); },
          .font = TextStyle::Body,
          .key = [](const Row& row) { return 4 * row.best + 2 * row.newest + row.pinned; },
          .tip = [this](const Row& row) { return badgeTip(row); }},
         {.title = tr("kept because"), .text = keptForText, .font = TextStyle::Body},
         {.title = tr("size"),
          .text = sizeText,
          .number = true,
          .key =
              [](const Row& row) {
                  return row.on_disk ? QVariant(qlonglong{row.bytes}) : QVariant();
              }},
         {.title = tr("saved"),
          .text = savedText,
          .number = true,
          .key =
              [](const Row& row) { return row.on_disk ? QVariant(row.saved_time) : QVariant(); }}},
        storyOf);
}

void CheckpointModel::setContent(const RunModel& run,
                                 const std::vector<checkpoint::Entry>& entries) {
    std::map<std::int64_t, CheckpointRow, std::greater<>> by_step;
    const compile::RunConfig& config = run.config();
    for (const train::CheckpointEvent& saved : run.checkpoints()) {
        CheckpointRow row;
        row.step = saved.step;
        row.metric = metric_at(run, saved.step, config.checkpoint_metric);
        fill_from_steps(row, run);
        row.cost = saved;
        by_step[saved.step] = std::move(row);
    }
    for (const checkpoint::Entry& entry : entries) {
        CheckpointRow& row = by_step[entry.step];
        const std::optional<train::CheckpointEvent> cost = std::move(row.cost);
        row = row_of(entry, run);
        row.cost = cost;
    }
    beginResetModel();
    metric_ = config.checkpoint_metric;
    setTitle(Metric, metricWords(metric_));
    rows_.clear();
    for (auto& [step, row] : by_step) {
        rows_.push_back(std::move(row));
    }
    loss_style_ = styleOf(&CheckpointRow::train_loss);
    metric_style_ = styleOf(&CheckpointRow::metric);
    const auto usable = [](const CheckpointRow& row) {
        return row.on_disk && row.looked_into && row.problem.empty();
    };
    const auto newest = std::find_if(rows_.begin(), rows_.end(), usable);
    if (newest != rows_.end()) {
        newest->newest = true;
    }
    if (const checkpoint::Entry* best =
            checkpoint::best_entry(entries, checkpoint::goal_of(config.document))) {
        rows_[static_cast<std::size_t>(rowOfStep(best->step))].best = true;
    }
    endResetModel();
}

widgets::NumberStyle CheckpointModel::styleOf(std::optional<double> CheckpointRow::*figure) const {
    std::vector<double> values;
    for (const CheckpointRow& row : rows_) {
        if (row.*figure) {
            values.push_back(*(row.*figure));
        }
    }
    return widgets::NumberStyle(std::move(values));
}

void CheckpointModel::clear() {
    beginResetModel();
    rows_.clear();
    endResetModel();
}

int CheckpointModel::rowOfStep(std::int64_t step) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(),
                                    [step](const CheckpointRow& row) { return row.step == step; });
    return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

QString CheckpointModel::bestName() const {
    return tr("best %1").arg(metricWords(metric_));
}

std::int64_t CheckpointModel::totalBytes() const {
    std::int64_t bytes = 0;
    for (const CheckpointRow& row : rows_) {
        bytes += row.bytes;
    }
    return bytes;
}

int CheckpointModel::onDisk() const {
    return static_cast<int>(std::count_if(rows_.begin(), rows_.end(),
                                          [](const CheckpointRow& row) { return row.on_disk; }));
}

QString CheckpointModel::badgeText(const CheckpointRow& row) const {
    QStringList badges;
    badges << (row.best ? QStringList(bestName()) : QStringList())
           << (row.newest ? QStringList(tr("newest")) : QStringList())
           << (row.pinned ? QStringList(tr("pinned")) : QStringList());
    return badges.join(", ");
}

QString CheckpointModel::badgeTip(const CheckpointRow& row) const {
    return row.best && row.metric ? bestName() + QLatin1Char(' ') + metric_style_.text(*row.metric)
                                  : storyOf(row);
}

QVariant CheckpointModel::data(const QModelIndex& index, int role) const {
    const CheckpointRow& shown = row(index.row());
    if (role == Qt::FontRole && index.column() == Step && !shown.on_disk) {
        QFont font = widgets::Theme::current().font(widgets::TextStyle::Mono);
        font.setStrikeOut(true);
        return font;
    }
    if (role == Qt::ForegroundRole) {
        const bool badge = index.column() == Badge;
        return widgets::Theme::current().color(!shown.problem.empty() ? widgets::Role::Error
                                               : !shown.on_disk       ? widgets::Role::Muted
                                               : badge && shown.best  ? widgets::Role::Success
                                               : badge                ? widgets::Role::Accent
                                                                      : widgets::Role::Text);
    }
    return TableModel::data(index, role);
}

} // namespace weft::ui
