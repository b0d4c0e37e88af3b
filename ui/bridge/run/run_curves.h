// SPDX-License-Identifier: GPL-3.0-or-later
// Curves of runs on disk by metric, read in the background and kept while the run's files are as
// they were.
#pragma once

#include "core/train/record/run_curve.h"

#include <QObject>

#include <deque>
#include <map>
#include <memory>
#include <set>

namespace weft::ui {

using Curve = std::shared_ptr<const std::vector<train::MetricPoint>>;

class RunCurves : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    /// Null while it is not read: then it is asked for, and arrived() follows. A run without the
    /// metric, or that cannot be read, has an empty curve.
    Curve find(const train::RunSummary& run, const std::string& metric);

signals:
    /// Some that were asked for are there.
    void arrived();

private:
    struct Key {
        std::filesystem::path folder;
        std::string metric;
        auto operator<=>(const Key&) const = default;
    };
    struct Known {
        std::string stamp; // of the files that it was read from
        Curve curve;
    };
    struct Wanted {
        Key key;
        std::string stamp;
        auto operator<=>(const Wanted&) const = default;
    };

    void readNext();

    std::map<Key, Known> known_;
    std::deque<Wanted> wanted_;
    std::set<Wanted> asked_; // the same, to find one in
    bool reading_ = false;
};

} // namespace weft::ui
