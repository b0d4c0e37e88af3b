// SPDX-License-Identifier: GPL-3.0-or-later
// What every line of every chart of a wall is at one place of their x axis: a heading for each
// chart, a row for each line. Values are asked for as they are painted.
#pragma once

#include "widgets/look/number_style.h"

#include <QAbstractTableModel>

#include <functional>
#include <optional>
#include <vector>

namespace weft::ui {

struct WallValue {
    double value = 0;
    std::optional<double> deviation; // of the runs of a group
};

struct WallLine {
    QString name;
    int slot = 0;
    Qt::PenStyle dash = Qt::SolidLine;
};

class WallValueModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Role { HeadingRole = Qt::UserRole, LineRole };
    /// `value(line, x)`: none: the line does not reach there; no x: its newest one.
    struct Section {
        QString title;
        std::vector<WallLine> lines;
        std::function<std::optional<WallValue>(std::size_t line, std::optional<double> x)> value;
    };

    using QAbstractTableModel::QAbstractTableModel;

    void setSections(std::vector<Section> sections);
    void setPlace(std::optional<double> x);
    /// Values are others.
    void renew();
    /// Rows of the headings.
    const std::vector<int>& headings() const { return first_rows_; }
    void setDeviations(bool shown);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Place {
        std::size_t section = 0;
        int line = -1; // -1: the heading
    };
    Place placeOf(int row) const;
    const widgets::NumberStyle& styleOf(std::size_t section) const;

    std::vector<Section> sections_;
    std::vector<int> first_rows_; // of the sections
    int rows_ = 0;
    bool deviations_ = false;
    std::optional<double> x_;
    mutable std::vector<std::optional<widgets::NumberStyle>> styles_; // of the sections
};

} // namespace weft::ui

Q_DECLARE_METATYPE(weft::ui::WallLine)
