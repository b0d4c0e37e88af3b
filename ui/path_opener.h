// SPDX-License-Identifier: GPL-3.0-or-later
// What a path is that the studio is given, and who looks after it.
#pragma once

#include "core/foreign/describe.h"
#include "core/train/record/event.h"
#include "ui/bridge/draft/draft.h"
#include "ui/bridge/newest_job.h"
#include "ui/bridge/recent_paths.h"
#include "ui/bridge/run/run_index.h"
#include "ui/studio_paths.h"

#include <QObject>
#include <QStringList>

#include <filesystem>
#include <vector>

namespace weft::ui {

class PathOpener : public QObject {
    Q_OBJECT
public:
    /// What it works with outlives it.
    PathOpener(const StudioPaths& paths, Draft& draft, RunIndex& index, RecentPaths& recent,
               QObject* parent = nullptr);

    /// A path from the command line, a drop or a file dialog: configuration, run folder,
    /// checkpoint, a model of Hugging Face's (its folder or config.json), an ONNX file or a folder
    /// with runs of any program in or below it, which are looked into in the background, or data to
    /// train on. Returns what is wrong with it, or an empty string; what the background finds wrong
    /// comes as `troubled`.
    QString open(const std::filesystem::path& path);
    /// Makes a draft of the ONNX file that a path is, or of the config.json of Hugging Face's that
    /// it is, holds, or lies beside; it starts from the weights there. False: there is none, or
    /// `troubled` says what is wrong.
    bool openModel(const std::filesystem::path& path);
    /// Everything that was dropped; of data to train on, the first file or folder. Problems come as
    /// `troubled`.
    void openDropped(const QStringList& paths);

signals:
    /// A run that should be on screen.
    void runOpened(const std::filesystem::path& run);
    void configOpened();
    /// The draft is a model that another program described.
    void modelOpened();
    /// Files that are no run and no configuration: to be looked at as data to train on.
    void dataOffered(const std::filesystem::path& path);
    /// The Checkpoints page should select this checkpoint.
    void checkpointOpened(const std::filesystem::path& checkpoint);
    /// The Checkpoints page should open the form of a fork of the run on screen, filled with this.
    void forkAsked(const weft::train::WayOn& way);
    /// The Runs page should offer these runs, which are in or below a folder that was opened.
    void runsOpened(const std::filesystem::path& folder,
                    const std::vector<std::filesystem::path>& runs);
    /// The Checkpoints page should show this file of weights.
    void weightsOpened(const std::filesystem::path& file);
    /// Something asked for did not work; for a short note over the window.
    void troubled(const QString& problem);

private:
    QString openForeign(const std::filesystem::path& path);
    /// `config`: what describes the model that `path` is.
    QString takeForeign(const std::filesystem::path& path, const std::filesystem::path& config,
                        const foreign::ForeignModel& model);
    void openRunsBelow(const std::filesystem::path& folder);

    const StudioPaths& paths_;
    Draft& draft_;
    RunIndex& index_;
    RecentPaths& recent_;
    NewestJob reading_{this}; // of an ONNX file: only the one asked for last becomes the draft
};

} // namespace weft::ui
