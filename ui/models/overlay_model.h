// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that can be shown in the charts: the one on screen, then those on disk, newest first; each
// with what its configuration has different. And the differences of those shown, as a table.
#pragma once

#include "ui/bridge/run/curve_runs.h"
#include "ui/bridge/run/run_index.h"
#include "widgets/look/number_style.h"

#include <QAbstractListModel>
#include <QAbstractTableModel>

#include <map>
#include <optional>
#include <vector>

namespace weft::ui {

class OverlayModel : public QAbstractListModel {
    Q_OBJECT
public:
    OverlayModel(CurveRuns& curves, RunIndex& index, QObject* parent = nullptr);

    /// Only runs whose name has this in it; the one on screen always.
    void setFilter(const QString& text);
    std::filesystem::path folderOf(const QModelIndex& index) const;
    /// How many could be listed without the filter.
    int total() const { return total_; }
    QModelIndex indexOf(const std::filesystem::path& folder) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

private:
    struct Row {
        std::filesystem::path folder;
        QString name;
        QString detail; // from the list of runs
        std::optional<double> value;
        std::string metric; // of the value
    };
    /// Of a row, as far as it is known.
    struct Best {
        std::optional<double> value;
        std::string metric;
    };

    void rebuild();
    void refresh();
    QString detailOf(const Row& row, const CurveRun* curve) const;
    Best bestOf(const Row& row) const;
    void chooseStyles();

    CurveRuns& curves_;
    RunIndex& index_;
    QString filter_;
    std::vector<Row> rows_;
    std::map<std::string, widgets::NumberStyle> styles_; // by metric
    int total_ = 0;
};

/// Settings in which the runs in the charts differ; a column for each run.
class OverlayCompareModel : public QAbstractTableModel {
    Q_OBJECT
public:
    explicit OverlayCompareModel(CurveRuns& curves, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Row {
        QString path;
        QStringList values; // of the runs, in their order
    };

    void rebuild();

    CurveRuns& curves_;
    QStringList names_;
    std::vector<Row> rows_;
};

} // namespace weft::ui
