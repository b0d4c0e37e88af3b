// SPDX-License-Identifier: GPL-3.0-or-later
// The runs whose curves the charts show: the run on screen, runs laid over it, and what a fork
// shares with the runs it came from. Each brings a run model of its own, read in the background.
#pragma once

#include "ui/bridge/run/run_model.h"
#include "ui/bridge/run/run_reader.h"

#include <QObject>

#include <functional>
#include <limits>
#include <memory>
#include <vector>

namespace weft::ui {

struct CurveRun {
    enum class Kind : std::uint8_t {
        Current, // the run on screen
        Overlay, // a run laid over it
        Prefix,  // steps of a run that the current one was forked from, up to the fork
    };

    int id = 0;
    Kind kind = Kind::Current;
    std::filesystem::path folder;
    int color = 0;                                          // of the series palette
    int dash = 0;                                           // seriesDash
    bool visible = true;                                    // by its eye
    double until = std::numeric_limits<double>::infinity(); // Prefix: the last step drawn

    const RunModel& model() const { return own ? *own : *shown; }
    QString name() const { return model().name().isEmpty() ? title : model().name(); }

    QString title; // before it is read
    const RunModel* shown = nullptr;
    std::unique_ptr<RunModel> own;
    std::unique_ptr<RunReader> reader;
};

class CurveRuns : public QObject {
    Q_OBJECT
public:
    /// `shown` is the run on screen and must outlive this.
    explicit CurveRuns(RunModel& shown, QObject* parent = nullptr);
    ~CurveRuns() override;

    const RunModel& shown() const { return shown_; }
    /// The current one first, then overlays in the order in which they were added.
    const std::vector<std::unique_ptr<CurveRun>>& runs() const { return runs_; }
    /// Null when it is not among them. Not the steps shared with a fork.
    const CurveRun* find(const std::filesystem::path& folder) const;
    const CurveRun* find(int id) const;
    /// Its name, with the date where another run in the charts has the same.
    QString label(const CurveRun& run) const;

    /// Lays a run over the one on screen, or hides it again: it stays read.
    void setVisible(const std::filesystem::path& folder, bool visible);
    void setColor(const std::filesystem::path& folder, int color);
    /// Takes every overlay away.
    void clearOverlays();

signals:
    void added(int id);
    void aboutToBeRemoved(int id);
    void looksChanged(int id); // colour, eye
    /// All columns of the run must be read again.
    void reset(int id);
    void stepsAppended(int id);
    /// Evaluations, checkpoints, resumes or the state of a run.
    void marksChanged(int id);

private:
    CurveRun& add(CurveRun::Kind kind, const std::filesystem::path& folder);
    CurveRun* findMutable(const std::filesystem::path& folder);
    void remove(int id);
    void removeOverlays(const std::function<bool(const CurveRun&)>& which);
    void dropUnrelated();
    void listen(const CurveRun& run);
    void updatePrefixes();
    int freeColor() const;

    RunModel& shown_;
    std::vector<std::unique_ptr<CurveRun>> runs_;
    int next_id_ = 1;
};

} // namespace weft::ui
