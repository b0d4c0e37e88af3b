// SPDX-License-Identifier: GPL-3.0-or-later
// What TensorBoard files of the run on screen hold beside scalars. Looked through in the
// background, again whenever the files have grown.
#pragma once

#include "core/train/logging/tensorboard_media.h"
#include "ui/bridge/newest_job.h"
#include "ui/bridge/run/run_model.h"

#include <QObject>
#include <QTimer>

namespace weft::ui {

class MediaFolder : public QObject {
    Q_OBJECT
public:
    explicit MediaFolder(RunModel& run, QObject* parent = nullptr);

    /// Empty for runs of ours, and until the files have been looked through.
    const train::MediaIndex& index() const { return index_; }
    const std::filesystem::path& folder() const { return folder_; }

signals:
    void reset(); // another run
    void changed();

private:
    struct Look {
        std::uintmax_t bytes = 0; // of all files
        bool is_new = false;
        train::MediaIndex index;
        qint64 took_ms = 0;
    };
    static Look lookAt(const std::filesystem::path& folder, std::uintmax_t known,
                       const std::stop_token& stop);
    void begin();
    void look();

    RunModel& run_;
    std::filesystem::path folder_;
    train::MediaIndex index_;
    std::uintmax_t bytes_ = 0;
    QTimer timer_;
    NewestJob job_{this};
};

} // namespace weft::ui
