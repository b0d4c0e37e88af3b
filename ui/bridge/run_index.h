// SPDX-License-Identifier: GPL-3.0-or-later
// The runs on disk, read in the background: what Home, Checkpoints and the run picker list. Built from
// the run folders alone, so nothing is lost when it is thrown away.
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "core/train/run_folder.h"

#include <QObject>

#include <filesystem>
#include <vector>

namespace weft::ui {

class RunIndex : public QObject {
    Q_OBJECT
public:
    explicit RunIndex(std::filesystem::path root, QObject* parent = nullptr);
    ~RunIndex() override;

    const std::filesystem::path& root() const { return root_; }
    void setRoot(const std::filesystem::path& root);
    /// Runs outside the root that the user opened; listed after the others.
    void addFolder(const std::filesystem::path& folder);
    /// Reads again in the background; runsChanged follows. Calls during a read cause one more.
    void refresh();
    bool isLoaded() const { return loaded_; }
    const std::vector<train::RunSummary>& runs() const { return runs_; }
    /// Null when it is not listed.
    const train::RunSummary* find(const std::filesystem::path& folder) const;

    /// Reads a run's checkpoints in the background; checkpointsRead follows.
    void readCheckpoints(const std::filesystem::path& run_folder);

signals:
    void runsChanged();
    void checkpointsRead(const std::filesystem::path& run_folder,
                         const std::vector<weft::checkpoint::Entry>& entries);

private:
    std::filesystem::path root_;
    std::vector<std::filesystem::path> extra_;
    std::vector<train::RunSummary> runs_;
    bool loaded_ = false;
    bool reading_ = false;
    bool again_ = false;
};

} // namespace weft::ui
