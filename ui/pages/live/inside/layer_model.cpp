// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/inside/layer_model.h"

#include "ui/bridge/convert.h"

#include <cmath>
#include <limits>

namespace weft::ui {
namespace {

using train::WrittenSpread;

QString figureText(double value) {
    return formatMetric(value);
}

QString shapeText(const ir::Shape& shape) {
    QStringList extents;
    for (const std::int64_t extent : shape) {
        extents << QString::number(extent);
    }
    return extents.join(QString::fromUtf8(" × "));
}

double logarithm(double value) {
    return value > 0 ? std::log10(value) : std::numeric_limits<double>::quiet_NaN();
}

std::function<QString(const LayerRow&)> ofSpread(double WrittenSpread::*member) {
    return [member](const LayerRow& row) {
        return row.spread->count == 0 ? QString::fromUtf8("–") : figureText(row.spread->*member);
    };
}

std::function<QVariant(const LayerRow&)> keyOfSpread(double WrittenSpread::*member) {
    return [member](const LayerRow& row) { return QVariant(row.spread->*member); };
}

TableColumn<LayerRow> spreadColumn(const QString& title, double WrittenSpread::*member,
                                   const QString& tip = {}) {
    return {.title = title,
            .text = ofSpread(member),
            .number = true,
            .key = keyOfSpread(member),
            .title_tip = tip};
}

TableColumn<LayerRow> normColumn() {
    return {.title = LayerModel::tr("Norm"),
            .text =
                [](const LayerRow& row) {
                    return row.spread->count == 0 ? QString::fromUtf8("–") : figureText(row.norm);
                },
            .number = true,
            .key = [](const LayerRow& row) { return QVariant(row.norm); },
            .title_tip = LayerModel::tr("The root of the sum of squares, over all elements")};
}

QString ratioVerdict(const LayerRow& row) {
    return !row.is_matrix || row.spread->count == 0 ? QString()
           : row.update_ratio > kHighRatio          ? LayerModel::tr("large")
           : row.update_ratio < kLowRatio           ? LayerModel::tr("small")
                                                    : LayerModel::tr("usual");
}

TableColumn<LayerRow> zeroColumn() {
    return {.title = LayerModel::tr("Zeros"),
            .text =
                [](const LayerRow& row) {
                    return row.spread->count == 0 ? QString::fromUtf8("–")
                                                  : LayerModel::tr("%1 %").arg(formatMetric(
                                                        100 * row.spread->zero_share()));
                },
            .number = true,
            .key = [](const LayerRow& row) { return QVariant(row.spread->zero_share()); }};
}

} // namespace

const WrittenSpread& spreadOf(const train::ParameterHistory::Point& point, InsideKind kind) {
    return kind == InsideKind::Gradients ? point.gradients
           : kind == InsideKind::Updates ? point.updates
                                         : point.weights;
}

LayerModel::LayerModel(QObject* parent)
    : TableModel(parent), history_(std::make_shared<train::InsideHistory>()) {
    describeColumns();
}

void LayerModel::describeColumns() {
    const bool layers = kind_ == InsideKind::Activations;
    std::vector<TableColumn<LayerRow>> columns{
        {.title = layers ? tr("Layer") : tr("Array"),
         .text = [](const LayerRow& row) { return row.name; },
         .font = widgets::TextStyle::Mono},
        {.title = tr("Shape"),
         .text = [](const LayerRow& row) { return row.shape; },
         .font = widgets::TextStyle::MonoSmall,
         .color = widgets::Role::Muted},
        {.title = kind_ == InsideKind::Updates ? tr("Ratio, over the steps")
                  : layers                     ? tr("Deviation, over the steps")
                                               : tr("Norm, over the steps"),
         .text = [](const LayerRow&) { return QString(); },
         .title_tip = tr("On a logarithmic scale, each row on its own")}};
    if (kind_ == InsideKind::Updates) {
        columns.push_back(normColumn());
        columns.push_back(
            {.title = tr("Update / weight"),
             .text =
                 [](const LayerRow& row) {
                     return row.spread->count == 0 ? QString::fromUtf8("–")
                                                   : figureText(row.update_ratio);
                 },
             .number = true,
             .key = [](const LayerRow& row) { return QVariant(row.update_ratio); },
             .title_tip = tr("The norm of the update over that of the weights. Around 0.001 is "
                             "usual: a rule of thumb of Andrej Karpathy's (CS231n)")});
        columns.push_back({.title = tr("By the rule"),
                           .text = ratioVerdict,
                           .title_tip = tr("Small: below 0.0001. Large: above 0.01. Of arrays of "
                                           "one dimension nothing is said: they begin at 0")});
        columns.push_back(spreadColumn(tr("Largest"), &WrittenSpread::high));
    } else if (layers) {
        columns.push_back(spreadColumn(tr("Mean"), &WrittenSpread::mean));
        columns.push_back(spreadColumn(tr("Deviation"), &WrittenSpread::deviation));
        columns.push_back(zeroColumn());
        columns.push_back(
            {.title = tr("Dead units"),
             .text =
                 [](const LayerRow& row) {
                     return row.units == 0
                                ? QString()
                                : tr("%1 of %2").arg(formatCount(row.dead), formatCount(row.units));
                 },
             .number = true,
             .key =
                 [](const LayerRow& row) {
                     return QVariant(row.units == 0 ? -1.0 : double(row.dead) / double(row.units));
                 },
             .title_tip = tr("Units of a ReLU that were above 0 for no sample of the batch")});
    } else {
        columns.push_back(normColumn());
        columns.push_back(spreadColumn(tr("Mean"), &WrittenSpread::mean));
        columns.push_back(spreadColumn(tr("Deviation"), &WrittenSpread::deviation));
        columns.push_back(zeroColumn());
    }
    describe(std::move(columns));
}

void LayerModel::show(std::shared_ptr<const train::InsideHistory> history, InsideKind kind,
                      std::size_t at) {
    beginResetModel();
    history_ = std::move(history);
    kind_ = kind;
    describeColumns();
    rows_.clear();
    if (at < history_->steps.size()) {
        kind_ == InsideKind::Activations ? fillActivations(at) : fillParameters(at);
    }
    endResetModel();
}

void LayerModel::fillParameters(std::size_t at) {
    for (const train::ParameterHistory& one : history_->parameters) {
        LayerRow row;
        row.name = toQString(one.name);
        row.shape = shapeText(one.shape);
        row.is_matrix = one.shape.rank() >= 2;
        const auto& point = one.points[at];
        row.spread = &spreadOf(point, kind_);
        row.norm = kind_ == InsideKind::Updates ? point.update_norm : row.spread->norm;
        row.update_ratio = point.update_ratio;
        for (const auto& each : one.points) {
            row.course.y.push_back(logarithm(
                kind_ == InsideKind::Updates ? each.update_ratio : spreadOf(each, kind_).norm));
        }
        rows_.push_back(std::move(row));
    }
}

void LayerModel::fillActivations(std::size_t at) {
    for (const train::ActivationHistory& one : history_->activations) {
        LayerRow row;
        row.name = toQString(one.layer);
        row.shape = shapeText(one.shape);
        const auto& point = one.points[at];
        row.spread = &point.spread;
        row.norm = point.spread.norm;
        row.units = point.spread.count > 0 ? one.units : 0;
        row.dead = point.dead;
        for (const auto& each : one.points) {
            row.course.y.push_back(logarithm(each.spread.deviation));
        }
        rows_.push_back(std::move(row));
    }
}

std::vector<const WrittenSpread*> LayerModel::spreads(int row) const {
    std::vector<const WrittenSpread*> out;
    const auto which = static_cast<std::size_t>(row);
    if (kind_ == InsideKind::Activations) {
        for (const auto& point : history_->activations[which].points) {
            out.push_back(&point.spread);
        }
    } else {
        for (const auto& point : history_->parameters[which].points) {
            out.push_back(&spreadOf(point, kind_));
        }
    }
    return out;
}

QVariant LayerModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) {
        return {};
    }
    const LayerRow& shown = row(index.row());
    if (role == kCourseRole && index.column() == CourseColumn) {
        return QVariant::fromValue(shown.course);
    }
    if (role == Qt::ForegroundRole) {
        const bool odd_ratio = kind_ == InsideKind::Updates && index.column() == ThirdFigure &&
                               !ratioVerdict(shown).isEmpty() &&
                               (shown.update_ratio > kHighRatio || shown.update_ratio < kLowRatio);
        const bool dead =
            kind_ == InsideKind::Activations && index.column() == FourthFigure && shown.dead > 0;
        const bool bad = shown.spread->not_finite > 0 && index.column() == FirstFigure;
        if (odd_ratio || dead || bad) {
            return widgets::Theme::current().color(bad ? widgets::Role::Error
                                                       : widgets::Role::Warning);
        }
    }
    return TableModel::data(index, role);
}

} // namespace weft::ui
