// SPDX-License-Identifier: GPL-3.0-or-later
// Every run on disk as a row, with columns to choose from. Sorted and filtered by RunTableFilter.
#pragma once

#include "ui/bridge/run/run_curves.h"
#include "ui/bridge/run/run_index.h"
#include "ui/models/run_column.h"
#include "ui/models/wall/run_looks.h"
#include "widgets/curves/sparkline.h"
#include "widgets/look/number_style.h"

#include <QAbstractTableModel>

#include <map>
#include <vector>

namespace weft::ui {

class RunTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Role {
        SortRole = Qt::UserRole, // number or text; invalid where the run has no such value
        CurveRole,               // widgets::SparklineData
        TagsRole,                // QStringList
        LookRole,                // RunLook, in the column of names, while looks are shown
    };

    RunTableModel(RunIndex& index, RunCurves& curves, QObject* parent = nullptr);

    void setColumns(std::vector<RunColumn> columns);
    const std::vector<RunColumn>& columns() const { return columns_; }

    const train::RunSummary& run(int row) const { return rows_[static_cast<std::size_t>(row)]; }
    int rowOf(const std::filesystem::path& folder) const; // -1 when it is not listed
    /// Their small curves take the colours of their lines in the comparison, the others none. Says
    /// no dataChanged, since a selection also changes while a filter takes rows away, which must
    /// not be told of other rows then: who calls it repaints its view.
    void setCompared(std::vector<std::filesystem::path> folders);
    /// Beside the name: the colour of the run and whether its eye is open.
    void setLooks(const RunLooks* looks);
    void showLooks(bool shown);
    /// Names of metrics that any run has, in order.
    std::vector<std::string> metricNames() const;
    /// Paths of settings that any run has, in order.
    std::vector<std::string> settingNames() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

signals:
    /// The user changed tags or notes of a run.
    void edited(const std::filesystem::path& run, const train::AnnotationChange& change);

private:
    void takeRuns();
    void takeRun(const train::RunSummary& run);
    std::optional<double> metricValue(const train::RunSummary& run, const RunColumn& column) const;
    void chooseBest();
    void chooseStyles();
    QString titleOf(const RunColumn& column) const;
    QString bestText(const std::string& metric, double value) const;
    std::optional<double> numberOf(const train::RunSummary& run, const RunColumn& column) const;
    QString textOf(const train::RunSummary& run, std::size_t at) const;
    widgets::SparklineData curveOf(const train::RunSummary& run) const;
    QVariant sortValue(const train::RunSummary& run, std::size_t at) const;
    QString tooltipOf(const train::RunSummary& run, const RunColumn& column) const;

    bool isNumber(std::size_t column) const;

    RunIndex& index_;
    RunCurves& curves_;
    const RunLooks* looks_ = nullptr;
    bool looks_shown_ = false;
    std::vector<char> numeric_;           // of the columns: all values that there are are numbers
    std::vector<train::RunSummary> rows_; // in no order of their own
    std::vector<RunColumn> columns_;
    std::vector<widgets::NumberStyle> styles_;                // of the columns that are metrics
    std::map<std::string, widgets::NumberStyle> best_styles_; // by the metric that is best
    std::string best_title_;                                  // what is said of them all
    std::vector<std::filesystem::path> compared_;             // in the order of their lines
};

} // namespace weft::ui
