// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/compare_model.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/plan/tensor_tiles.h"

#include <cmath>

namespace weft::ui {
namespace {

QVariant alignment(bool right) {
    return QVariant::fromValue(
        Qt::Alignment(Qt::AlignVCenter | (right ? Qt::AlignRight : Qt::AlignLeft)));
}

QVariant mono() {
    return widgets::Theme::current().font(widgets::TextStyle::Mono);
}

/// The better of two figures has a mark before it.
QString marked(const QString& text, bool better) {
    return better ? QStringLiteral("✓ ") + text : text;
}

QString sentence(const ComparedFigure& row) {
    QString out = QObject::tr("%1, %2: A %3, B %4").arg(row.group, row.name, row.a, row.b);
    switch (row.better) {
    case Better::A: return out + QObject::tr("; A is better");
    case Better::B: return out + QObject::tr("; B is better");
    case Better::Neither: break;
    }
    return out;
}

QString differenceText(const ComparedTensor& row) {
    const qint64 more = row.b_bytes - row.a_bytes;
    return more == 0 ? QString() : withSign(double(more), shortMemory(std::abs(more)));
}

} // namespace

void FigureModel::setFigures(std::vector<ComparedFigure> figures) {
    beginResetModel();
    figures_ = std::move(figures);
    endResetModel();
}

int FigureModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(figures_.size());
}

int FigureModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant FigureModel::data(const QModelIndex& index, int role) const {
    const auto at = static_cast<std::size_t>(index.row());
    const ComparedFigure& row = figures_[at];
    const int column = index.column();
    const bool first = at == 0 || figures_[at - 1].group != row.group;
    switch (role) {
    case Qt::DisplayRole:
        switch (column) {
        case NameColumn:
            return first ? row.group + QStringLiteral(": ") + row.name
                         : QStringLiteral("    ") + row.name;
        case AColumn: return marked(row.a, row.better == Better::A);
        case BColumn: return marked(row.b, row.better == Better::B);
        default: return row.difference;
        }
    case Qt::ToolTipRole: return sentence(row);
    case Qt::AccessibleTextRole:
        return column == NameColumn ? QVariant(sentence(row)) : data(index, Qt::DisplayRole);
    case Qt::TextAlignmentRole: return alignment(column != NameColumn);
    case Qt::FontRole: return column == NameColumn ? QVariant() : mono();
    default: return {};
    }
}

QVariant FigureModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return alignment(section != NameColumn);
    }
    if (role == Qt::ToolTipRole && section != NameColumn) {
        return tr("✓: the better of the two");
    }
    const QString titles[] = {tr("of a device"), tr("A"), tr("B"), tr("B less A")};
    return role == Qt::DisplayRole ? QVariant(titles[section]) : QVariant();
}

void TensorDifferenceModel::setTensors(std::vector<ComparedTensor> tensors) {
    beginResetModel();
    tensors_ = std::move(tensors);
    endResetModel();
}

int TensorDifferenceModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(tensors_.size());
}

int TensorDifferenceModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant TensorDifferenceModel::data(const QModelIndex& index, int role) const {
    const ComparedTensor& row = tensors_[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    const QString name =
        row.count > 1 ? QStringLiteral("%1 ×%2").arg(row.name).arg(row.count) : row.name;
    const auto text = [&]() -> QString {
        switch (column) {
        case NameColumn: return name;
        case SpecColumn:
            return row.a_spec == row.b_spec ? row.a_spec
                                            : row.a_spec + QStringLiteral(" → ") + row.b_spec;
        case BytesColumn: return shortMemory(row.a_bytes);
        default: return differenceText(row);
        }
    };
    const QString sentence =
        tr("%1: A %2, %3 on a device; B %4, %5 on a device")
            .arg(name, row.a_spec, shortMemory(row.a_bytes), row.b_spec, shortMemory(row.b_bytes));
    switch (role) {
    case Qt::DisplayRole: return text();
    case kSortRole:
        return column == BytesColumn        ? QVariant(row.a_bytes)
               : column == DifferenceColumn ? QVariant(row.count * (row.b_bytes - row.a_bytes))
                                            : QVariant(text());
    case Qt::ToolTipRole: return sentence;
    case Qt::AccessibleTextRole: return column == NameColumn ? sentence : text();
    case Qt::TextAlignmentRole: return alignment(column >= BytesColumn);
    case Qt::FontRole: return mono();
    default: return {};
    }
}

QVariant TensorDifferenceModel::headerData(int section, Qt::Orientation orientation,
                                           int role) const {
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return alignment(section >= BytesColumn);
    }
    const QString titles[] = {tr("held otherwise"), tr("A → B"), tr("A a device"), tr("B less A")};
    return role == Qt::DisplayRole ? QVariant(titles[section]) : QVariant();
}

} // namespace weft::ui
