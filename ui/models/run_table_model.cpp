// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/run_table_model.h"

#include "core/base/text.h"
#include "core/train/record/run_filter.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/run/run_facts.h"
#include "ui/forms/number_text.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace weft::ui {
namespace {

using ColumnKind = RunColumn::Kind;
using Value = RunColumn::Value;

QStringList tags_of(const train::RunSummary& run) {
    QStringList tags;
    for (const std::string& tag : run.annotations.tags) {
        tags << toQString(tag);
    }
    return tags;
}

QString parent_of(const train::RunSummary& run) {
    return run.info.parent.empty()
               ? QString()
               : runTitle(std::filesystem::path(run.info.parent).lexically_normal());
}

/// "validation/loss", "validation": the metric of all, or else its split; empty: they differ in it.
std::string commonPart(const std::map<std::string, widgets::NumberStyle>& by_metric) {
    std::set<std::string> splits;
    for (const auto& [metric, style] : by_metric) {
        splits.insert(metric.substr(0, metric.find('/')));
    }
    return by_metric.size() == 1 ? by_metric.begin()->first
           : splits.size() == 1  ? *splits.begin()
                                 : std::string();
}

/// Null where the run has none, or leaves it to its default.
const config::Json* setting_of(const train::RunSummary& run, const RunColumn& column) {
    const config::Json* value = train::setting_at(run.config, column.metric);
    return value == nullptr || value->is_null() ? nullptr : value;
}

} // namespace

RunTableModel::RunTableModel(RunIndex& index, RunCurves& curves, QObject* parent)
    : QAbstractTableModel(parent), index_(index), curves_(curves), columns_(RunColumn::usual()) {
    connect(&index_, &RunIndex::runsChanged, this, &RunTableModel::takeRuns);
    connect(&index_, &RunIndex::runMoved, this, &RunTableModel::takeRun);
    connect(&curves_, &RunCurves::arrived, this, [this] {
        chooseStyles();
        for (int i = 0; i < columnCount(); ++i) {
            if (columns_[static_cast<std::size_t>(i)].kind == ColumnKind::Metric &&
                rowCount() > 0) {
                emit dataChanged(createIndex(0, i), createIndex(rowCount() - 1, i));
            }
        }
    });
    takeRuns();
}

void RunTableModel::setColumns(std::vector<RunColumn> columns) {
    beginResetModel();
    columns_ = std::move(columns);
    chooseStyles();
    endResetModel();
}

// Rows stay where they are, so that views keep what is selected; new ones come at the end.
void RunTableModel::takeRuns() {
    std::map<std::filesystem::path, const train::RunSummary*> fresh;
    for (const train::RunSummary& run : index_.runs()) {
        fresh.emplace(run.folder, &run);
    }
    for (int row = rowCount() - 1; row >= 0; --row) {
        const auto at = rows_.begin() + row;
        const auto found = fresh.find(at->folder);
        if (found == fresh.end()) {
            beginRemoveRows({}, row, row);
            rows_.erase(at);
            endRemoveRows();
        } else {
            *at = *found->second;
            fresh.erase(found);
        }
    }
    if (!fresh.empty()) {
        beginInsertRows({}, rowCount(), rowCount() + static_cast<int>(fresh.size()) - 1);
        for (const auto& [folder, run] : fresh) {
            rows_.push_back(*run);
        }
        endInsertRows();
    }
    chooseStyles();
    if (columnCount() > 0) {
        emit headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
    }
    if (!rows_.empty()) {
        emit dataChanged(createIndex(0, 0), createIndex(rowCount() - 1, columnCount() - 1));
    }
}

// What the title says of the metrics, no row need say.
void RunTableModel::chooseBest() {
    std::map<std::string, std::vector<double>> values;
    for (const train::RunSummary& run : rows_) {
        if (run.best_value) {
            values[run.best_metric].push_back(*run.best_value);
        }
    }
    best_styles_.clear();
    for (auto& [metric, numbers] : values) {
        best_styles_.emplace(metric, widgets::NumberStyle(std::move(numbers)));
    }
    best_title_ = commonPart(best_styles_);
}

void RunTableModel::chooseStyles() {
    chooseBest();
    styles_.assign(columns_.size(), {});
    numeric_.assign(columns_.size(), 0);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        numeric_[i] = columns_[i].kind == ColumnKind::Setting
                          ? std::all_of(rows_.begin(), rows_.end(),
                                        [&](const train::RunSummary& run) {
                                            const config::Json* value =
                                                setting_of(run, columns_[i]);
                                            return value == nullptr || value->is_number();
                                        })
                          : columns_[i].isNumber();
        std::vector<double> values;
        for (const train::RunSummary& run : rows_) {
            if (const auto value = columns_[i].kind == ColumnKind::Metric
                                       ? metricValue(run, columns_[i])
                                       : std::nullopt) {
                values.push_back(*value);
            }
        }
        styles_[i] = widgets::NumberStyle(std::move(values));
    }
}

QString RunTableModel::titleOf(const RunColumn& column) const {
    return column.kind == ColumnKind::Best && !best_title_.empty()
               ? tr("best %1").arg(metricWords(best_title_))
               : column.title();
}

/// Whatever its title leaves to say.
QString RunTableModel::bestText(const std::string& metric, double value) const {
    const auto style = best_styles_.find(metric); // not yet while rows come and go
    const QString text =
        (style == best_styles_.end() ? widgets::NumberStyle() : style->second).text(value);
    if (metric == best_title_) {
        return text;
    }
    const bool told = !best_title_.empty() && metric.starts_with(best_title_ + "/");
    return metricWords(told ? metric.substr(best_title_.size() + 1) : metric) + ' ' + text;
}

void RunTableModel::takeRun(const train::RunSummary& run) {
    if (const int row = rowOf(run.folder); row >= 0) {
        rows_[static_cast<std::size_t>(row)] = run;
        const auto before = best_styles_;
        chooseBest();
        if (best_styles_ == before) {
            emit dataChanged(createIndex(row, 0), createIndex(row, columnCount() - 1));
        } else {
            emit headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
            emit dataChanged(createIndex(0, 0), createIndex(rowCount() - 1, columnCount() - 1));
        }
    }
}

int RunTableModel::rowOf(const std::filesystem::path& folder) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(),
                                    [&](const auto& run) { return run.folder == folder; });
    return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

void RunTableModel::setCompared(std::vector<std::filesystem::path> folders) {
    compared_ = std::move(folders);
}

widgets::SparklineData RunTableModel::curveOf(const train::RunSummary& run) const {
    widgets::SparklineData curve = sparklineOf(run);
    if (looks_shown_) {
        const RunLook look = looks_->lookOf(run.folder);
        curve.slot = look.shown ? look.slot : -1;
        return curve;
    }
    if (compared_.size() < 2) {
        return curve;
    }
    const auto found = std::find(compared_.begin(), compared_.end(), run.folder);
    if (found == compared_.end()) {
        curve.slot = -1;
        return curve;
    }
    const ComparedLine line = comparedLine(static_cast<std::size_t>(found - compared_.begin()));
    curve.slot = line.slot;
    curve.dash = line.dash;
    return curve;
}

void RunTableModel::setLooks(const RunLooks* looks) {
    looks_ = looks;
    connect(looks, &RunLooks::changed, this, [this] {
        if (looks_shown_ && rowCount() > 0) {
            emit dataChanged(createIndex(0, 0), createIndex(rowCount() - 1, columnCount() - 1),
                             {LookRole});
        }
    });
}

void RunTableModel::showLooks(bool shown) {
    looks_shown_ = shown;
    if (rowCount() > 0) {
        emit dataChanged(createIndex(0, 0), createIndex(rowCount() - 1, columnCount() - 1));
    }
}

bool RunTableModel::isNumber(std::size_t column) const {
    return column < numeric_.size() && numeric_[column] != 0;
}

std::vector<std::string> RunTableModel::settingNames() const {
    std::vector<std::string> names;
    for (const auto& [name, named] : index_.names().all()) {
        if (named.kind == train::RunNames::Kind::setting) {
            names.push_back(name);
        }
    }
    return names;
}

std::vector<std::string> RunTableModel::metricNames() const {
    std::set<std::string> names;
    for (const train::RunSummary& run : rows_) {
        for (const auto& [name, metric] : run.metrics) {
            names.insert(name);
        }
    }
    return {names.begin(), names.end()};
}

int RunTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int RunTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

std::optional<double> RunTableModel::metricValue(const train::RunSummary& run,
                                                 const RunColumn& column) const {
    const train::MetricSummary* metric = run.metric(column.metric);
    if (metric == nullptr) {
        return std::nullopt;
    }
    switch (column.value) {
    case Value::Last: return metric->last;
    case Value::Best: {
        if (metric->best) {
            return metric->best;
        }
        const Curve curve =
            curves_.find(run, column.metric); // every value, where not all are known
        train::MetricSummary whole;
        whole.smaller_is_better = metric->smaller_is_better;
        for (const train::MetricPoint& point :
             curve != nullptr ? *curve : std::vector<train::MetricPoint>()) {
            whole.note(point.step, point.value);
        }
        return whole.best;
    }
    case Value::AtStep: {
        const Curve curve = curves_.find(run, column.metric);
        return curve != nullptr ? train::value_at(*curve, column.step) : std::nullopt;
    }
    }
    return std::nullopt;
}

std::optional<double> RunTableModel::numberOf(const train::RunSummary& run,
                                              const RunColumn& column) const {
    switch (column.kind) {
    case ColumnKind::Best: return run.best_value;
    case ColumnKind::Metric: return metricValue(run, column);
    case ColumnKind::Step: return static_cast<double>(run.step);
    case ColumnKind::Time: return run.seconds;
    case ColumnKind::Size: return static_cast<double>(run.bytes);
    case ColumnKind::When: return run.modified;
    default: return std::nullopt;
    }
}

QString RunTableModel::textOf(const train::RunSummary& run, std::size_t at) const {
    const RunColumn& column = columns_[at];
    switch (column.kind) {
    case ColumnKind::Name: return nameOf(run);
    case ColumnKind::State:
        return run.problem.empty() ? stateLook(run.state).text : tr("unreadable");
    case ColumnKind::Tags: return tags_of(run).join(", ");
    case ColumnKind::Notes: return toQString(run.annotations.notes).simplified();
    case ColumnKind::Parent: return parent_of(run);
    case ColumnKind::Model: return toQString(run.info.model);
    case ColumnKind::Data:
        return run.source == train::RunSource::weft ? toQString(run.info.data)
                                                    : sourceName(run.source);
    case ColumnKind::Curve: return {};
    case ColumnKind::Setting: {
        const config::Json* value = setting_of(run, column);
        return value == nullptr ? QStringLiteral("–") : settingText(*value);
    }
    default: break;
    }
    const std::optional<double> number = numberOf(run, column);
    if (!number) {
        return QStringLiteral("–");
    }
    switch (column.kind) {
    case ColumnKind::Step: return formatCount(run.step);
    case ColumnKind::Time: return formatDuration(*number);
    case ColumnKind::Size: return formatFileSize(run.bytes);
    case ColumnKind::When: return formatWhen(*number);
    case ColumnKind::Best: return bestText(run.best_metric, *number);
    default: return styles_[at].text(*number);
    }
}

QVariant RunTableModel::sortValue(const train::RunSummary& run, std::size_t at) const {
    const RunColumn& column = columns_[at];
    if (column.isNumber()) {
        const std::optional<double> number = numberOf(run, column);
        return number && *number == *number ? QVariant(*number) : QVariant();
    }
    if (column.kind == ColumnKind::Setting) {
        const config::Json* value = setting_of(run, column);
        return value == nullptr     ? QVariant()
               : value->is_number() ? QVariant(value->get<double>())
                                    : QVariant(settingText(*value));
    }
    if (column.kind == ColumnKind::Curve) {
        return run.loss_curve.empty() ? QVariant() : QVariant(run.last_loss);
    }
    const QString text = textOf(run, at);
    return text.isEmpty() ? QVariant() : QVariant(text);
}

QString RunTableModel::tooltipOf(const train::RunSummary& run, const RunColumn& column) const {
    switch (column.kind) {
    case ColumnKind::State:
        return !run.problem.empty()       ? toQString(run.problem)
               : run.info.message.empty() ? stateLook(run.state).text
                                          : toQString(run.info.message);
    case ColumnKind::Best:
        return run.best_value
                   ? tr("%1 at step %2").arg(toQString(run.best_metric), formatCount(run.best_step))
                   : tr("no %1 yet").arg(toQString(run.best_metric));
    case ColumnKind::Curve:
        return run.loss_curve.empty() ? QString() : tr("loss %1").arg(formatMetric(run.last_loss));
    case ColumnKind::Notes: return toQString(run.annotations.notes);
    case ColumnKind::Tags: return tr("Edit: tags, separated by commas");
    case ColumnKind::Parent:
        return run.info.parent.empty()
                   ? QString()
                   : tr("forked from %1 at step %2")
                         .arg(parent_of(run), formatCount(run.info.parent_step));
    default: return pathText(run.folder);
    }
}

QVariant RunTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) {
        return {};
    }
    const train::RunSummary& run = rows_[static_cast<std::size_t>(index.row())];
    const auto at = static_cast<std::size_t>(index.column());
    const RunColumn& column = columns_[at];
    const widgets::Theme& theme = widgets::Theme::current();
    switch (role) {
    case Qt::DisplayRole: return textOf(run, at);
    case Qt::EditRole:
        return column.kind == ColumnKind::Notes ? toQString(run.annotations.notes)
                                                : textOf(run, at);
    case Qt::ToolTipRole: return tooltipOf(run, column);
    case SortRole: return sortValue(run, at);
    case CurveRole:
        return column.kind == ColumnKind::Curve ? QVariant::fromValue(curveOf(run)) : QVariant();
    case TagsRole: return tags_of(run);
    case LookRole:
        return column.kind == ColumnKind::Name && looks_shown_
                   ? QVariant::fromValue(looks_->lookOf(run.folder))
                   : QVariant();
    case Qt::AccessibleTextRole:
        return titleOf(column) + " " +
               (column.kind == ColumnKind::Curve ? tooltipOf(run, column) : textOf(run, at));
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(
            Qt::Alignment(Qt::AlignVCenter | (isNumber(at) ? Qt::AlignRight : Qt::AlignLeft)));
    case Qt::FontRole:
        return theme.font(column.kind == ColumnKind::Name ? widgets::TextStyle::Strong
                          : isNumber(at)                  ? widgets::TextStyle::Mono
                                                          : widgets::TextStyle::Body);
    case Qt::ForegroundRole: {
        const widgets::Role look =
            column.kind == ColumnKind::State
                ? (run.problem.empty() ? stateLook(run.state).role : widgets::Role::Error)
            : looks_shown_ && !looks_->isShown(run.folder) ? widgets::Role::Faint
            : run.annotations.archived || column.kind == ColumnKind::Parent ||
                    column.kind == ColumnKind::When
                ? widgets::Role::Muted
                : widgets::Role::Text;
        return theme.color(look);
    }
    default: return {};
    }
}

bool RunTableModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (!index.isValid() || role != Qt::EditRole || !(flags(index) & Qt::ItemIsEditable)) {
        return false;
    }
    const train::RunSummary& run = rows_[static_cast<std::size_t>(index.row())];
    train::AnnotationChange change{run.annotations, run.annotations};
    if (columns_[static_cast<std::size_t>(index.column())].kind == ColumnKind::Tags) {
        change.after.tags = train::parse_tags(value.toString().toStdString());
    } else {
        change.after.notes = value.toString().toStdString();
    }
    if (change.after != change.before) {
        const std::filesystem::path folder = run.folder; // the list may be made anew
        index_.annotate(folder, change);
        emit edited(folder, change);
    }
    return true;
}

Qt::ItemFlags RunTableModel::flags(const QModelIndex& index) const {
    const Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    if (!index.isValid()) {
        return flags;
    }
    const ColumnKind kind = columns_[static_cast<std::size_t>(index.column())].kind;
    return kind == ColumnKind::Tags || kind == ColumnKind::Notes ? flags | Qt::ItemIsEditable
                                                                 : flags;
}

QVariant RunTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section >= columnCount()) {
        return {};
    }
    const RunColumn& column = columns_[static_cast<std::size_t>(section)];
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(Qt::Alignment(
            Qt::AlignVCenter |
            (isNumber(static_cast<std::size_t>(section)) ? Qt::AlignRight : Qt::AlignLeft)));
    }
    if (role == Qt::ToolTipRole && column.kind == ColumnKind::Setting) {
        return toQString(column.metric);
    }
    return role == Qt::DisplayRole || role == Qt::ToolTipRole ? QVariant(titleOf(column))
                                                              : QVariant();
}

} // namespace weft::ui
