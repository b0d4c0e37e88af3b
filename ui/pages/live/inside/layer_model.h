// SPDX-License-Identifier: GPL-3.0-or-later
// Weights, gradients or updates of a run, an array a row, or what its layers put out: figures at
// one of the steps it looked at, and their course over all of them.
#pragma once

#include "core/train/inside/inside_file.h"
#include "ui/models/table_model.h"
#include "widgets/curves/sparkline.h"

#include <memory>
#include <vector>

namespace weft::ui {

enum class InsideKind { Weights, Gradients, Updates, Activations };

struct LayerRow {
    QString name;
    QString shape;
    bool is_matrix = false;                       // two dimensions or more
    const train::WrittenSpread* spread = nullptr; // at the step
    double norm = 0; // of all elements, also where the spread is of a sample
    double update_ratio = 0;
    std::int64_t units = 0, dead = 0;
    widgets::SparklineData course; // of logarithms of norms, of ratios or of deviations
};

class LayerModel : public TableModel<LayerRow> {
    Q_OBJECT
public:
    enum Column {
        NameColumn,
        ShapeColumn,
        CourseColumn,
        FirstFigure,
        SecondFigure,
        ThirdFigure,
        FourthFigure,
        ColumnCount
    };
    static constexpr int kCourseRole = Qt::UserRole + 1;

    explicit LayerModel(QObject* parent = nullptr);

    /// `at`: index of the step whose figures are shown.
    void show(std::shared_ptr<const train::InsideHistory> history, InsideKind kind, std::size_t at);
    /// The spreads of a row, one for each step.
    std::vector<const train::WrittenSpread*> spreads(int row) const;

    QVariant data(const QModelIndex& index, int role) const override;

private:
    void describeColumns();
    void fillParameters(std::size_t at);
    void fillActivations(std::size_t at);

    std::shared_ptr<const train::InsideHistory> history_;
    InsideKind kind_ = InsideKind::Weights;
};

/// The spread of a parameter's point that a kind is about.
const train::WrittenSpread& spreadOf(const train::ParameterHistory::Point& point, InsideKind kind);

/// An update over its weights, by their norms: about 1e-3 is usual (A. Karpathy's CS231n notes,
/// Neural Networks Part 3, Ratio of weights:updates). Outside of these it is worth a look.
inline constexpr double kLowRatio = 1e-4;
inline constexpr double kHighRatio = 1e-2;

} // namespace weft::ui
