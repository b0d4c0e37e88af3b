// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/reshard_model.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/plan/tensor_tiles.h"
#include "widgets/mesh/tile_array.h"

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kMostStretches = 4; // of device numbers

QVariant reshardAlignment(bool right) {
    return QVariant::fromValue(
        Qt::Alignment(Qt::AlignVCenter | (right ? Qt::AlignRight : Qt::AlignLeft)));
}

QVariant reshardMono() {
    return widgets::Theme::current().font(widgets::TextStyle::Mono);
}

} // namespace

QString reshardKindText(ReshardKind kind) {
    switch (kind) {
    case ReshardKind::Stays: return ReshardModel::tr("stays");
    case ReshardKind::Moves: return ReshardModel::tr("moves");
    case ReshardKind::Copied: return ReshardModel::tr("copied");
    case ReshardKind::Cut: break;
    }
    return ReshardModel::tr("cut anew");
}

void ReshardModel::setRows(std::vector<ReshardRow> rows) {
    beginResetModel();
    rows_ = std::move(rows);
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    endResetModel();
}

int ReshardModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ReshardModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant ReshardModel::display(const ReshardRow& row, int column) const {
    switch (column) {
    case NameColumn: return row.name;
    case KindColumn: return reshardKindText(row.kind);
    default: return shortMemory(row.bytes);
    }
}

QVariant ReshardModel::data(const QModelIndex& index, int role) const {
    const ReshardRow& shown = row(index.row());
    const int column = index.column();
    const QString sentence = tr("%1, %2, %3: saved as %4, held as %5, %6")
                                 .arg(shown.name, shown.type, widgets::formatMemory(shown.bytes),
                                      shown.from_spec, shown.to_spec, reshardKindText(shown.kind));
    switch (role) {
    case Qt::DisplayRole: return display(shown, column);
    case kSortRole: return column == BytesColumn ? QVariant(shown.bytes) : display(shown, column);
    case Qt::ToolTipRole: return sentence;
    case Qt::AccessibleTextRole: return column == NameColumn ? sentence : display(shown, column);
    case Qt::TextAlignmentRole: return reshardAlignment(column == BytesColumn);
    case Qt::FontRole: return column == KindColumn ? QVariant() : reshardMono();
    default: return {};
    }
}

QVariant ReshardModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return reshardAlignment(section == BytesColumn);
    }
    const QString titles[] = {tr("array"), tr("becomes"), tr("bytes")};
    return role == Qt::DisplayRole ? QVariant(titles[section]) : QVariant();
}

void ReaderModel::setReaders(const std::vector<ReshardReader>& readers) {
    beginResetModel();
    rows_.clear();
    for (std::size_t device = 0; device < readers.size(); ++device) {
        const ReshardReader& own = readers[device];
        const auto alike = std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) {
            return row.each.read_bytes == own.read_bytes &&
                   row.each.crossing_bytes == own.crossing_bytes && row.each.pieces == own.pieces;
        });
        (alike == rows_.end() ? rows_.emplace_back(Row{{}, own}) : *alike)
            .devices.push_back(static_cast<int>(device));
    }
    endResetModel();
}

int ReaderModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ReaderModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant ReaderModel::data(const QModelIndex& index, int role) const {
    const Row& row = rows_[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    const QString sentence =
        tr("devices %1: each reads %2, %3 of them saved by others, from %n piece(s)", nullptr,
           row.each.pieces)
            .arg(widgets::deviceListText(row.devices), widgets::formatMemory(row.each.read_bytes),
                 widgets::formatMemory(row.each.crossing_bytes));
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
        switch (column) {
        case DeviceColumn:
            return role == Qt::AccessibleTextRole
                       ? sentence
                       : widgets::deviceListText(row.devices, kMostStretches);
        case ReadColumn: return shortMemory(row.each.read_bytes);
        case CrossingColumn: return shortMemory(row.each.crossing_bytes);
        default: return formatCount(row.each.pieces);
        }
    case Qt::ToolTipRole: return sentence;
    case Qt::TextAlignmentRole: return reshardAlignment(column != DeviceColumn);
    case Qt::FontRole: return reshardMono();
    default: return {};
    }
}

QVariant ReaderModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return reshardAlignment(section != DeviceColumn);
    }
    if (role == Qt::ToolTipRole && section == CrossingColumn) {
        return tr("Of what it reads, what other devices have saved");
    }
    const QString titles[] = {tr("device"), tr("reads"), tr("others'"), tr("pieces")};
    return role == Qt::DisplayRole ? QVariant(titles[section]) : QVariant();
}

} // namespace weft::ui
