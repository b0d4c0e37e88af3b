// SPDX-License-Identifier: GPL-3.0-or-later
// The audit of the run on screen: made by a process of its own, read from the run's folder, and
// what a person has decided about its suspects.
#pragma once

#include "core/train/audit/audit.h"
#include "ui/bridge/newest_job.h"
#include "ui/bridge/run/run_model.h"

#include <QObject>
#include <QThreadPool>

#include <map>
#include <memory>
#include <optional>
#include <vector>

class QProcess;

namespace weft::ui {

/// About a sample; nothing: it was not looked at.
struct Decision {
    enum class Kind : std::uint8_t { None, Keep, Exclude, Label } kind = Kind::None;
    std::int32_t label = -1; // Label: its class from now on
    friend bool operator==(const Decision&, const Decision&) = default;
};

class RunAudit : public QObject {
    Q_OBJECT
public:
    RunAudit(RunModel& run, std::filesystem::path worker, QObject* parent = nullptr);
    ~RunAudit() override;

    /// Null until there is one.
    const std::shared_ptr<const train::Audit>& audit() const { return audit_; }
    /// The folder has been looked into.
    bool isKnown() const { return known_; }
    /// Why there is none, or the last was not made; empty: nothing is wrong.
    const QString& problem() const { return problem_; }

    void start();
    void cancel();
    bool isRunning() const { return process_ != nullptr; }
    /// "comparing samples 42 %"
    const QString& progress() const { return progress_; }

    /// By Suspect::index.
    Decision decision(std::int64_t index) const;
    void decide(std::int64_t index, Decision decision);
    bool canUndo() const { return !undone_.empty(); }
    /// Takes the last decision back; the sample that it was about.
    std::optional<std::int64_t> undo();
    int countOf(Decision::Kind kind) const;

    /// The decisions together with those that the run was trained with, beside its data or, where
    /// nothing can be written there, in its folder: `written` with the file, or `failed`.
    void writeList();

signals:
    void changed(); // audit, progress or problem
    void decided(std::int64_t index);
    void written(const std::filesystem::path& list);
    void failed(const QString& problem);

private:
    void reset();
    void read();
    void takeProgress();
    void onFinished(int code);
    std::vector<data::Correction> corrections() const;
    /// The corrections, and what is kept as it is.
    std::vector<data::Correction> decidedSamples() const;
    void keep();

    RunModel& run_;
    const std::filesystem::path worker_;
    std::shared_ptr<const train::Audit> audit_;
    bool known_ = false;
    QString problem_, progress_;
    QProcess* process_ = nullptr;
    std::map<std::int64_t, Decision> decisions_;
    std::map<std::int64_t, data::Correction> samples_; // suspects, and those decided about before
    std::vector<std::pair<std::int64_t, Decision>> undone_; // what was there before, newest last
    NewestJob reading_{this};
    QThreadPool writer_; // one thread: files are written in the order of decisions
};

} // namespace weft::ui
