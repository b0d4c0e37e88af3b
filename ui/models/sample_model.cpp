// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/sample_model.h"

#include "ui/bridge/convert.h"

namespace weft::ui {
namespace {

constexpr int kSignificant = 5;

/// The name that the source gave a column, or `plain`, or its number.
QString columnName(const std::vector<std::string>& names, int index, const QString& plain) {
    return static_cast<std::size_t>(index) < names.size()
               ? toQString(names[static_cast<std::size_t>(index)])
           : plain.isEmpty() ? QString::number(index)
                             : plain;
}

} // namespace

SampleModel::SampleModel(QObject* parent) : QAbstractTableModel(parent) {}

void SampleModel::setSamples(const data::SampleInfo& info, std::vector<SampleView> samples) {
    beginResetModel();
    info_ = info;
    samples_ = std::move(samples);
    endResetModel();
}

// A class is one column, numbers to predict one each.
int SampleModel::targets() const {
    return info_.classes > 0 ? 1 : static_cast<int>(info_.target.shape.elements());
}

int SampleModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(samples_.size());
}

int SampleModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() || samples_.empty()
               ? 0
               : firstFeature() + static_cast<int>(info_.input.shape.elements());
}

QString SampleModel::display(const SampleView& sample, int column) const {
    if (column == 0) {
        return formatCount(sample.index);
    }
    if (!sample.problem.isEmpty()) {
        return column == firstTarget() ? tr("cannot be read") : QString();
    }
    if (column < firstFeature()) {
        const auto target = static_cast<std::size_t>(column - firstTarget());
        return info_.classes > 0 ? className(info_, sample.label)
               : target < sample.targets.size()
                   ? widgets::formatNumber(static_cast<double>(sample.targets[target]),
                                           kSignificant)
                   : QString();
    }
    const auto feature = static_cast<std::size_t>(column - firstFeature());
    return feature < sample.values.size()
               ? widgets::formatNumber(static_cast<double>(sample.values[feature]), kSignificant)
               : QString();
}

QVariant SampleModel::data(const QModelIndex& index, int role) const {
    const SampleView& sample = samples_[static_cast<std::size_t>(index.row())];
    const widgets::Theme& theme = widgets::Theme::current();
    switch (role) {
    case Qt::DisplayRole: return display(sample, index.column());
    case Qt::ToolTipRole: return sample.problem.isEmpty() ? QVariant() : QVariant(sample.problem);
    case Qt::FontRole:
        return theme.font(index.column() == 0 || index.column() >= firstFeature() ||
                                  info_.classes == 0
                              ? widgets::TextStyle::Mono
                              : widgets::TextStyle::Body);
    case Qt::ForegroundRole:
        return theme.color(!sample.problem.isEmpty() && index.column() > 0 ? widgets::Role::Error
                           : index.column() == 0                           ? widgets::Role::Muted
                                                                           : widgets::Role::Text);
    case Qt::TextAlignmentRole: {
        const bool text = index.column() == firstTarget() && info_.classes > 0;
        return QVariant((text ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
    default: return {};
    }
}

QVariant SampleModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        const bool text = section == firstTarget() && info_.classes > 0;
        return QVariant((text ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    if (section == 0) {
        return tr("sample");
    }
    if (section < firstFeature()) {
        const QString plain = info_.classes > 0 ? tr("class") : QString();
        return columnName(info_.target_names, section - firstTarget(), plain);
    }
    return columnName(info_.input_names, section - firstFeature(), {});
}

} // namespace weft::ui
