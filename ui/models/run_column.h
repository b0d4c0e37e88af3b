// SPDX-License-Identifier: GPL-3.0-or-later
// A column of the table of runs: a fact of the run, any setting, or any metric at its best, at its
// last step or at a given one.
#pragma once

#include <QCoreApplication>
#include <QString>

#include <cstdint>
#include <optional>
#include <string>
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
        Data,
        Setting
    };
    enum class Value : std::uint8_t { Best, Last, AtStep };

    Kind kind = Kind::Name;
    std::string metric;        // Metric; the path of a Setting
    Value value = Value::Best; // Metric
    qint64 step = 0;           // Metric with AtStep

    friend bool operator==(const RunColumn&, const RunColumn&) = default;

    /// "state", "metric best validation/loss", "metric at 500 train/loss", "setting seed": to keep.
    QString id() const;
    static std::optional<RunColumn> fromId(const QString& id);
    QString title() const;
    /// "validation/loss:best", "optimizer.learning_rate", "state": in files.
    QString csvName() const;
    /// Whatever the run; of settings their values say it.
    bool isNumber() const;

    /// What a table shows until its user chooses otherwise.
    static std::vector<RunColumn> usual();
    /// Every fact that there is.
    static std::vector<RunColumn> facts();

    Q_DECLARE_TR_FUNCTIONS(RunColumn)
};

} // namespace weft::ui
