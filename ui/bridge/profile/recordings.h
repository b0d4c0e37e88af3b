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
    const std::filesystem::path& chosen() const { return now_.file; }
    const std::filesystem::path& chosenBefore() const { return before_.file; }
    bool isReading() const { return now_.reading.isRunning(); }
    /// Null while it is read, and when it cannot be.
    const std::shared_ptr<const OpenRecording>& shown() const { return now_.open; }
    const std::shared_ptr<const OpenRecording>& before() const { return before_.open; }
    /// Why the chosen one cannot be shown, and why the other; empty: they can.
    const QString& problem() const { return now_.problem; }
    const QString& problemBefore() const { return before_.problem; }

    /// Writes the one that is shown for Perfetto; `done` hears of it.
    void exportTrace(const std::filesystem::path& to,
                     const std::function<void(bool well, const QString& text)>& done);

signals:
    void listChanged();
    /// What is shown, what it is compared with, or that they are being read.
    void changed();

private:
    /// A recording that is chosen: on its way, open, or not to be read.
    struct Chosen {
        std::filesystem::path file{};
        std::shared_ptr<const OpenRecording> open{};
        QString problem{};
        NewestJob reading;
    };
    void choose(Chosen& which, const std::filesystem::path& file);

    std::filesystem::path run_;
    std::vector<ListedRecording> listed_;
    bool listed_once_ = false;
    Chosen now_{.reading = NewestJob(this)};
    Chosen before_{.reading = NewestJob(this)};
    NewestJob listing_{this};
    NewestJob exporting_{this};
};

} // namespace weft::ui
