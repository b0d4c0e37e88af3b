// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/sample_model.h"

#include "ui/bridge/convert.h"

namespace weft::ui {
namespace {

/// The name that the source gave a column, or `plain`, or its number.
QString columnName(const std::vector<std::string>& names, int index, const QString& plain) {
    return static_cast<std::size_t>(index) < names.size()
               ? toQString(names[static_cast<std::size_t>(index)])
           : plain.isEmpty() ? QString::number(index)
                             : plain;
}

} // namespace

SampleModel::SampleModel(QObject* parent) : QAbstractTableModel(parent) {}

void SampleModel::setSamples(std::shared_ptr<const SplitFacts> facts,
                             std::vector<SampleView> samples, Seen seen) {
    beginResetModel();
    facts_ = std::move(facts);
    samples_ = std::move(samples);
    seen_ = seen;
    chooseStyles();
    endResetModel();
}

// A class is one column, numbers to predict one each.
int SampleModel::targets() const {
    const data::SampleInfo& info = facts_->info;
    return info.classes > 0 ? 1 : static_cast<int>(info.target.shape.elements());
}

int SampleModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(samples_.size());
}

int SampleModel::columnCount(const QModelIndex& parent) const {
    if (parent.isValid() || samples_.empty()) {
        return 0;
    }
    return firstFeature() + (isRaw() ? static_cast<int>(facts_->columns.size())
                                     : static_cast<int>(facts_->info.input.shape.elements()));
}

std::optional<double> SampleModel::number(const SampleView& sample, int column) const {
    if (column < firstFeature()) {
        const auto target = static_cast<std::size_t>(column - firstTarget());
        if (facts_->info.classes > 0 || target >= sample.targets.size()) {
            return std::nullopt;
        }
        const auto value = static_cast<double>(sample.targets[target]);
        const data::TargetScale& scale = facts_->target_scale;
        return isRaw() && target < scale.mean.size()
                   ? value * scale.scale[target] + scale.mean[target]
                   : value;
    }
    const auto feature = static_cast<std::size_t>(column - firstFeature());
    if (!isRaw()) {
        return feature < sample.values.size()
                   ? std::optional(static_cast<double>(sample.values[feature]))
                   : std::nullopt;
    }
    bool is_number = false;
    const double value = sample.cells.value(static_cast<qsizetype>(feature)).toDouble(&is_number);
    return is_number ? std::optional(value) : std::nullopt;
}

// One way to write the numbers of a column; none where it holds something else.
void SampleModel::chooseStyles() {
    styles_.assign(static_cast<std::size_t>(columnCount()), std::nullopt);
    for (int column = firstTarget(); column < columnCount(); ++column) {
        std::vector<double> values;
        bool all = true;
        for (const SampleView& sample : samples_) {
            const auto value = number(sample, column);
            all = all && (value || !sample.problem.isEmpty());
            values.push_back(value.value_or(0));
        }
        if (all) {
            styles_[static_cast<std::size_t>(column)] =
                widgets::NumberStyle(std::move(values), widgets::NumberStyle::Wholes::Bare);
        }
    }
}

QString SampleModel::display(const SampleView& sample, int column) const {
    if (column == 0) {
        return formatCount(sample.index);
    }
    if (!sample.problem.isEmpty()) {
        return column == firstTarget() ? tr("cannot be read") : QString();
    }
    if (const auto& style = styles_[static_cast<std::size_t>(column)]) {
        return style->text(*number(sample, column));
    }
    return column < firstFeature() ? classesOf(facts_->info, sample).join(tr(", "))
                                   : sample.cells.value(column - firstFeature());
}

QVariant SampleModel::data(const QModelIndex& index, int role) const {
    const SampleView& sample = samples_[static_cast<std::size_t>(index.row())];
    const widgets::Theme& theme = widgets::Theme::current();
    const bool number =
        index.column() == 0 || styles_[static_cast<std::size_t>(index.column())].has_value();
    switch (role) {
    case Qt::DisplayRole: return display(sample, index.column());
    case Qt::ToolTipRole: return sample.problem.isEmpty() ? QVariant() : QVariant(sample.problem);
    case Qt::FontRole:
        return theme.font(number ? widgets::TextStyle::Mono : widgets::TextStyle::Body);
    case Qt::ForegroundRole:
        return theme.color(!sample.problem.isEmpty() && index.column() > 0 ? widgets::Role::Error
                           : index.column() == 0                           ? widgets::Role::Muted
                                                                           : widgets::Role::Text);
    case Qt::TextAlignmentRole:
        return QVariant((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    default: return {};
    }
}

QString SampleModel::title(int section) const {
    const data::SampleInfo& info = facts_->info;
    if (section == 0) {
        return tr("sample");
    }
    if (section < firstFeature()) {
        const QString plain = info.classes > 0 ? tr("class") : QString();
        return columnName(info.target_names, section - firstTarget(), plain);
    }
    const int feature = section - firstFeature();
    return isRaw() ? toQString(facts_->columns[static_cast<std::size_t>(feature)].name)
                   : columnName(info.input_names, feature, {});
}

QVariant SampleModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section >= columnCount()) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        const bool number = section == 0 || styles_[static_cast<std::size_t>(section)].has_value();
        return QVariant((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    return role == Qt::DisplayRole ? QVariant(title(section)) : QVariant();
}

} // namespace weft::ui
