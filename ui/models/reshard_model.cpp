// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/reshard_model.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/plan/tensor_tiles.h"
#include "widgets/mesh/tile_array.h"

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kMostStretches = 4; // of device numbers

QString reshardSentence(const ReshardRow& row) {
    return ReshardModel::tr("%1, %2, %3: saved as %4, held as %5, %6")
        .arg(row.name, row.type, widgets::formatMemory(row.bytes), row.from_spec, row.to_spec,
             reshardKindText(row.kind));
}

QString readerSentence(const ReaderRow& row) {
    return ReaderModel::tr("devices %1: each reads %2, %3 of them saved by others, from %n "
                           "piece(s)",
                           nullptr, row.each.pieces)
        .arg(widgets::deviceListText(row.devices), widgets::formatMemory(row.each.read_bytes),
             widgets::formatMemory(row.each.crossing_bytes));
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

ReshardModel::ReshardModel(QObject* parent) : TableModel(parent) {
    using Row = ReshardRow;
    using widgets::TextStyle;
    describe(
        {{.title = tr("array"),
          .text = [](const Row& row) { return row.name; },
          .font = TextStyle::Mono,
          .spoken = reshardSentence},
         {.title = tr("becomes"), .text = [](const Row& row) { return reshardKindText(row.kind); }},
         {.title = tr("bytes"),
          .text = [](const Row& row) { return shortMemory(row.bytes); },
          .number = true,
          .key = [](const Row& row) { return row.bytes; }}},
        reshardSentence);
}

void ReshardModel::setRows(std::vector<ReshardRow> rows) {
    beginResetModel();
    rows_ = std::move(rows);
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    endResetModel();
}

ReaderModel::ReaderModel(QObject* parent) : TableModel(parent) {
    using Row = ReaderRow;
    using widgets::TextStyle;
    describe(
        {{.title = tr("device"),
          .text =
              [](const Row& row) { return widgets::deviceListText(row.devices, kMostStretches); },
          .font = TextStyle::Mono,
          .spoken = readerSentence},
         {.title = tr("reads"),
          .text = [](const Row& row) { return shortMemory(row.each.read_bytes); },
          .number = true},
         {.title = tr("others'"),
          .text = [](const Row& row) { return shortMemory(row.each.crossing_bytes); },
          .number = true,
          .title_tip = tr("Of what it reads, what other devices have saved")},
         {.title = tr("pieces"),
          .text = [](const Row& row) { return formatCount(row.each.pieces); },
          .number = true}},
        readerSentence);
}

void ReaderModel::setReaders(const std::vector<ReshardReader>& readers) {
    beginResetModel();
    rows_.clear();
    for (std::size_t device = 0; device < readers.size(); ++device) {
        const ReshardReader& own = readers[device];
        const auto alike = std::find_if(rows_.begin(), rows_.end(), [&](const ReaderRow& row) {
            return row.each.read_bytes == own.read_bytes &&
                   row.each.crossing_bytes == own.crossing_bytes && row.each.pieces == own.pieces;
        });
        (alike == rows_.end() ? rows_.emplace_back(ReaderRow{{}, own}) : *alike)
            .devices.push_back(static_cast<int>(device));
    }
    endResetModel();
}

} // namespace weft::ui
