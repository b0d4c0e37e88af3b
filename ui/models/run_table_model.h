// SPDX-License-Identifier: GPL-3.0-or-later
// Every run on disk as a row, with columns to choose from: facts of the run, and any metric at its
// best, at its last step or at a given one. Sorted and filtered by RunTableFilter.
#pragma once

#include "core/train/run_filter.h"
#include "ui/bridge/run_curves.h"
#include "ui/bridge/run_index.h"

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include <vector>

namespace weft::ui {

struct RunColumn {
    enum class Kind : std::uint8_t {
        Name,
        State,
        Curve,
        Best,
        Metric,
        Step,
        Time,
        Size,
        Tags,
        Notes,
        Parent,
        When,
        Model,
        Data
    };
    enum class Value : std::uint8_t { Best, Last, AtStep };

    Kind kind = Kind::Name;
    std::string metric;        // Metric
    Value value = Value::Best; // Metric
    qint64 step = 0;           // Metric with AtStep

    friend bool operator==(const RunColumn&, const RunColumn&) = default;

    /// "state", "metric best validation/loss", "metric at 500 train/loss"; for settings.
    QString id() const;
    static std::optional<RunColumn> fromId(const QString& id);
    QString title() const;
    bool isNumber() const;
};

class RunTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Role {
        SortRole = Qt::UserRole, // number or text; invalid where the run has no such value
        CurveRole,               // widgets::SparklineData
        TagsRole,                // QStringList
    };

    RunTableModel(RunIndex& index, RunCurves& curves, QObject* parent = nullptr);

    static std::vector<RunColumn> defaultColumns();
    static std::vector<RunColumn> factColumns();
    void setColumns(std::vector<RunColumn> columns);
    const std::vector<RunColumn>& columns() const { return columns_; }

    const train::RunSummary& run(int row) const { return rows_[static_cast<std::size_t>(row)]; }
    int rowOf(const std::filesystem::path& folder) const; // -1 when it is not listed
    /// Names of metrics that any run has, in order.
    std::vector<std::string> metricNames() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

private:
    void takeRuns();
    std::optional<double> metricValue(const train::RunSummary& run, const RunColumn& column) const;
    std::optional<double> numberOf(const train::RunSummary& run, const RunColumn& column) const;
    QString textOf(const train::RunSummary& run, const RunColumn& column) const;
    QVariant sortValue(const train::RunSummary& run, const RunColumn& column) const;
    QString tooltipOf(const train::RunSummary& run, const RunColumn& column) const;

    RunIndex& index_;
    RunCurves& curves_;
    std::vector<train::RunSummary> rows_; // in no order of their own
    std::vector<RunColumn> columns_;
};

class RunTableFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit RunTableFilter(RunTableModel& model, QObject* parent = nullptr);

    void setFilter(const train::RunFilter& filter);
    const train::RunSummary& run(int row) const;

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
    RunTableModel& model_;
    train::RunFilter filter_;
};

} // namespace weft::ui
