// SPDX-License-Identifier: GPL-3.0-or-later
// Brings a run's folder into a RunModel without holding up the GUI thread: configuration and events
// are read and parsed in the background, a bounded batch at a time, and the next batch is read
// while the GUI takes the one before. A run that another process trains is followed as it grows,
// and so is the folder of another program: an event log of our format, or event files of
// TensorBoard.
#pragma once

#include "ui/bridge/run/run_model.h"

#include <QObject>
#include <QTimer>

namespace weft::ui {

class RunReader : public QObject {
    Q_OBJECT
public:
    /// Events of the first batch, for a picture that is there soon.
    static constexpr std::size_t kFirstBatch = 2048;
    /// Events of those after it: some milliseconds of work for models and charts, which paint less
    /// often than they take a batch of points.
    static constexpr std::size_t kBatch = 32768;
    /// Scalars of event files per batch.
    static constexpr std::size_t kScalars = 65536;

    /// `model` must outlive the reader.
    explicit RunReader(RunModel& model, QObject* parent = nullptr);

    /// Starts over with this folder, whatever was still to come of another. While a live process
    /// trains the run, its new events follow.
    void open(const std::filesystem::path& folder);
    /// For a run that goes on in this process with this configuration: the model describes it at
    /// once, the events on disk follow; those from now on are the caller's to apply.
    void replay(const std::filesystem::path& folder, const compile::RunConfig& config);
    /// Reads what was written since; nothing while reading.
    void refresh();
    void stop();
    /// From open() or replay() until every event that was on disk then is in the model, or it
    /// failed.
    bool isReading() const { return reading_; }
    const std::filesystem::path& folder() const { return folder_; }
    /// Number of the newest event in the model, as EventLog gave it.
    std::int64_t lastSeq() const { return last_seq_; }

signals:
    /// Every event that was on disk is in the model; or it cannot be read (RunModel::problem()).
    void caughtUp();

private:
    struct Source; // what the background owns: one task at a time
    struct Batch {
        std::vector<train::Event> events;
        train::ScalarBatch scalars;
        bool more = false; // there is another one
        bool live = false; // a process trained the run when the batch was read
    };

    void start(const std::filesystem::path& folder, bool follow);
    void readConfig();
    void readBatch();
    void take(const Batch& batch);

    RunModel& model_;
    std::filesystem::path folder_;
    bool follow_ = false;
    std::shared_ptr<Source> source_; // also says which open() a batch belongs to
    bool reading_ = false;
    bool busy_ = false; // the background has the source
    std::int64_t last_seq_ = 0;
    QTimer poll_;
};

} // namespace weft::ui
