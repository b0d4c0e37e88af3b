// SPDX-License-Identifier: GPL-3.0-or-later
// The runs on disk, read in the background: what Home, Checkpoints, Runs and the run picker list.
// Built from the run folders alone; the cache on disk only saves reading them again.
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "core/train/record/run_names.h"

#include <QObject>
#include <QThreadPool>

#include <filesystem>
#include <map>
#include <memory>
#include <vector>

namespace weft::ui {

class RunIndex : public QObject {
    Q_OBJECT
public:
    explicit RunIndex(std::filesystem::path root, QObject* parent = nullptr);
    ~RunIndex() override;

    const std::filesystem::path& root() const { return root_; }
    void setRoot(const std::filesystem::path& root);
    /// Where opened folders are remembered and where the cache lies; empty: nowhere. Before the
    /// first refresh.
    void setFiles(const std::filesystem::path& opened, const std::filesystem::path& cache);
    /// A folder that the user opened: the runs in and below it are listed after the others, also
    /// those that appear later, until it is closed.
    void addFolder(const std::filesystem::path& folder);
    void closeFolder(const std::filesystem::path& folder);
    const std::vector<std::filesystem::path>& openedFolders() const { return opened_; }
    /// Files of weights in opened folders, of any program.
    const std::vector<std::filesystem::path>& weights() const { return weights_; }
    /// Reads again in the background; runsChanged follows. Calls during a read cause one more.
    void refresh();
    bool isLoaded() const { return loaded_; }
    const std::vector<train::RunSummary>& runs() const { return runs_; }
    /// What a filter of them can name.
    const train::RunNames& names() const { return names_; }
    /// Null when it is not listed.
    const train::RunSummary* find(const std::filesystem::path& folder) const;

    /// How far a run has come that is watched, which its files say when they are read again;
    /// runMoved follows when it is listed.
    void follow(const std::filesystem::path& folder, std::int64_t step, double seconds);

    /// Writes what a person notes about a run into its folder; runsChanged follows, or failed. What
    /// another studio noted meanwhile stays.
    void annotate(const std::filesystem::path& run, const train::AnnotationChange& change);

    /// Reads a run's checkpoints in the background. checkpointsFound follows at once with their
    /// steps, and again while a long list is read, the newest first; at last checkpointsRead. What
    /// another call for another run leaves unread is not heard of.
    void readCheckpoints(const std::filesystem::path& run_folder);

signals:
    void runsChanged();
    void runMoved(const weft::train::RunSummary& run);
    void failed(const QString& problem);
    void checkpointsFound(const std::filesystem::path& run_folder,
                          const std::vector<weft::checkpoint::Entry>& entries);
    void checkpointsRead(const std::filesystem::path& run_folder,
                         const std::vector<weft::checkpoint::Entry>& entries);

private:
    using Entries = std::vector<checkpoint::Entry>;

    /// Adds or removes one in the file, which other studios change too.
    enum class Remember { Added, Closed };
    void rememberOpened(const std::filesystem::path& folder, Remember what);
    void readEntries(const std::filesystem::path& run_folder, std::shared_ptr<Entries> entries,
                     std::size_t left, int request);

    std::filesystem::path root_;
    std::filesystem::path opened_file_;
    std::filesystem::path cache_;
    std::vector<std::filesystem::path> opened_;
    std::vector<train::RunSummary> runs_;
    train::RunNames names_;
    std::vector<std::filesystem::path> weights_;
    std::map<std::filesystem::path, int> requests_; // of readCheckpoints: older ones are dropped
    bool loaded_ = false;
    bool reading_ = false;
    bool again_ = false;
    QThreadPool writer_; // one thread: changes land in the order in which they were made
};

} // namespace weft::ui
