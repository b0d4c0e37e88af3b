// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/compare_model.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/plan/tensor_tiles.h"

#include <cmath>

namespace weft::ui {
namespace {

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

QString nameText(const ComparedTensor& row) {
    return row.count > 1 ? QStringLiteral("%1 ×%2").arg(row.name).arg(row.count) : row.name;
}

QString changedSpec(const ComparedTensor& row) {
    return row.a_spec == row.b_spec ? row.a_spec : row.a_spec + QStringLiteral(" → ") + row.b_spec;
}

QString tensorSentence(const ComparedTensor& row) {
    return TensorCompareModel::tr("%1: A %2, %3 on a device; B %4, %5 on a device")
        .arg(nameText(row), row.a_spec, shortMemory(row.a_bytes), row.b_spec,
             shortMemory(row.b_bytes));
}

} // namespace

FigureModel::FigureModel(QObject* parent) : TableModel(parent) {
    using Row = ComparedFigure;
    using widgets::TextStyle;
    const QString mark = tr("✓: the better of the two");
    describe({{.title = tr("of a device"),
               .text = [](const Row& row) { return QStringLiteral("    ") + row.name; },
               .spoken = sentence},
              {.title = tr("A"),
               .text = [](const Row& row) { return marked(row.a, row.better == Better::A); },
               .number = true,
               .title_tip = mark},
              {.title = tr("B"),
               .text = [](const Row& row) { return marked(row.b, row.better == Better::B); },
               .number = true,
               .title_tip = mark},
              {.title = tr("B − A"),
               .text = [](const Row& row) { return row.difference; },
               .number = true,
               .title_tip = mark}},
             sentence);
}

void FigureModel::setFigures(std::vector<ComparedFigure> figures) {
    beginResetModel();
    rows_ = std::move(figures);
    endResetModel();
}

/// The first of a group says its name.
QVariant FigureModel::data(const QModelIndex& index, int role) const {
    const ComparedFigure& shown = row(index.row());
    if (role == Qt::DisplayRole && index.column() == NameColumn &&
        (index.row() == 0 || row(index.row() - 1).group != shown.group)) {
        return shown.group + QStringLiteral(": ") + shown.name;
    }
    return TableModel::data(index, role);
}

TensorCompareModel::TensorCompareModel(QObject* parent) : TableModel(parent) {
    using Row = ComparedTensor;
    using widgets::TextStyle;
    describe({{.title = tr("held otherwise"),
               .text = nameText,
               .font = TextStyle::Mono,
               .spoken = tensorSentence},
              {.title = tr("A → B"), .text = changedSpec, .font = TextStyle::Mono},
              {.title = tr("A a device"),
               .text = [](const Row& row) { return shortMemory(row.a_bytes); },
               .number = true,
               .key = [](const Row& row) { return row.a_bytes; }},
              {.title = tr("B − A"),
               .text = differenceText,
               .number = true,
               .key = [](const Row& row) { return row.count * (row.b_bytes - row.a_bytes); }}},
             tensorSentence);
}

void TensorCompareModel::setTensors(std::vector<ComparedTensor> tensors) {
    beginResetModel();
    rows_ = std::move(tensors);
    endResetModel();
}

} // namespace weft::ui
