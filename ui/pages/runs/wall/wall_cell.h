// SPDX-License-Identifier: GPL-3.0-or-later
// A chart of the wall: one metric of every run that the table shows, or of its groups as mean and
// band. It is given its lines when it is seen, a slice at a time.
#pragma once

#include "core/compare/curves.h"
#include "ui/bridge/run/run_curves.h"
#include "ui/models/wall/run_looks.h"
#include "ui/models/wall/wall_value_model.h"
#include "ui/pages/chart_frame.h"

#include <map>
#include <memory>

namespace weft::ui {

/// What holds for all charts of a wall.
struct WallOptions {
    XAxis axis = XAxis::Step;
    bool grouped = false; // a line for each group of the table, where it has groups
    compare::Band band = compare::Band::range;

    friend bool operator==(const WallOptions&, const WallOptions&) = default;
};

class WallCell : public ChartFrame {
    Q_OBJECT
public:
    WallCell(std::string metric, RunCurves& curves, const RunLooks& looks);

    const std::string& metric() const { return metric_; }
    /// The last part of its name, in words.
    QString title() const;
    /// Runs, looks or options are others: what is drawn follows when it is fed.
    void setOptions(const WallOptions& options);
    void invalidate() { current_ = false; }
    /// Appends up to `budget` points and takes them off it. Done: all that can be read is drawn;
    /// Waiting: curves are being read.
    enum class Fed { Done, Waiting, Hungry };
    Fed feed(std::size_t& budget);
    /// Lets go of its lines until it is seen again.
    void forget();
    /// Points that its lines take the memory of.
    std::size_t points() const;
    void highlight(const std::filesystem::path& run);

    /// For the table of values.
    WallValueModel::Section section() const;

signals:
    /// Its lines are others, computed in the background.
    void fedAnew();
    void reportRequested();

private:
    struct Line {
        int series = -1;
        std::string stamp; // of the run when its curve was read
        Curve curve;       // null until it is read
        Curve epochs;      // where x counts them
        std::size_t fed = 0;
        RunLook look;
    };
    struct GroupLine {
        int series = -1;
        RunLook look;
        QString name;
        std::vector<compare::BandPoint> points;
    };

    bool isGrouped() const;
    void follow();
    void followRuns();
    void followGroups();
    Curve curveOf(const train::RunSummary& run, const std::string& metric);
    Fed feedRuns(std::size_t& budget);
    Fed feedGroups();
    std::size_t feedLine(const train::RunSummary& run, Line& line, std::size_t budget);
    double xOf(const train::RunSummary& run, const Line& line, std::size_t point) const;
    void showGroups(std::vector<std::vector<compare::BandPoint>> groups);
    void applyHighlight();

    const std::string metric_;
    RunCurves& curves_;
    const RunLooks& looks_;
    WallOptions options_;
    WallOptions drawn_with_;
    bool drawn_grouped_ = false;
    bool current_ = false;              // lines are those of the looks
    std::map<std::string, Line> lines_; // by folder
    std::vector<GroupLine> groups_;
    std::string highlighted_;
    int computing_ = 0; // number of the newest computation of groups
    bool groups_due_ = false;
};

} // namespace weft::ui
