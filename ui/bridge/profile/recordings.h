// SPDX-License-Identifier: GPL-3.0-or-later
// The recordings in the folder of a run: listed and read off the GUI thread; one is shown, and one
// may stand beside it as it was before.
#pragma once

#include "ui/bridge/newest_job.h"
#include "ui/bridge/profile/open_recording.h"

#include <QObject>
#include <QString>

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

namespace weft::ui {

struct ListedRecording {
    std::filesystem::path file;
    std::int64_t first_step = 0; // as its name says
    double written = 0;          // s, UTC epoch
};

class Recordings : public QObject {
    Q_OBJECT
public:
    explicit Recordings(QObject* parent = nullptr) : QObject(parent) {}

    /// The run whose recordings they are; empty: none. The newest is shown.
    void setRun(const std::filesystem::path& folder);
    /// Looks into the folder again. `show`: the one to be shown then; empty: the one that is shown,
    /// or the newest.
    void refresh(const std::filesystem::path& show = {});
    /// Newest first.
    const std::vector<ListedRecording>& listed() const { return listed_; }
    bool isListed() const { return listed_once_; }

    void show(const std::filesystem::path& file);
    /// Empty: nothing stands beside it.
    void compareWith(const std::filesystem::path& file);

    /// What is chosen; it may be on its way still, or not be readable.
    const std::filesystem::path& chosen() const { return chosen_; }
    const std::filesystem::path& chosenBefore() const { return chosen_before_; }
    bool isReading() const { return reading_.isRunning(); }
    /// Null while it is read, and when it cannot be.
    const std::shared_ptr<const OpenRecording>& shown() const { return shown_; }
    const std::shared_ptr<const OpenRecording>& before() const { return before_; }
    /// Why the chosen one cannot be shown, and why the other; empty: they can.
    const QString& problem() const { return problem_; }
    const QString& problemBefore() const { return problem_before_; }

    /// Writes the one that is shown for Perfetto; `done` hears of it.
    void exportTrace(const std::filesystem::path& to,
                     const std::function<void(bool well, const QString& text)>& done);

signals:
    void listChanged();
    /// What is shown, what it is compared with, or that they are being read.
    void changed();

private:
    std::filesystem::path run_;
    std::vector<ListedRecording> listed_;
    bool listed_once_ = false;
    std::filesystem::path chosen_;
    std::filesystem::path chosen_before_;
    std::shared_ptr<const OpenRecording> shown_;
    std::shared_ptr<const OpenRecording> before_;
    QString problem_;
    QString problem_before_;
    NewestJob listing_{this};
    NewestJob reading_{this};
    NewestJob reading_before_{this};
    NewestJob exporting_{this};
};

} // namespace weft::ui
