// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/checkpoint_choice.h"

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/train/engine.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "widgets/look/style.h"

#include <QSignalBlocker>

namespace weft::ui {
namespace {

struct Found {
    std::vector<std::pair<std::int64_t, std::filesystem::path>> usable; // oldest first
    std::filesystem::path best;
};

Found find_checkpoints(const std::filesystem::path& run) {
    Found found;
    try {
        for (const checkpoint::Entry& entry : checkpoint::list_checkpoints(run / "checkpoints")) {
            if (entry.problem.empty()) {
                found.usable.emplace_back(entry.step, entry.path);
            }
        }
        if (!found.usable.empty()) {
            found.best = train::find_checkpoint(run, "best");
        }
    } catch (const Error&) {
        return {}; // no such folder yet: no checkpoints
    }
    return found;
}

} // namespace

CheckpointChoice::CheckpointChoice(RunModel& run, QWidget* parent) : QComboBox(parent), run_(run) {
    setAccessibleName(tr("Checkpoint"));
    setToolTip(tr("Whose weights are tried"));
    setSizeAdjustPolicy(QComboBox::AdjustToContents);
    widgets::setCompact(this);
    connect(&run_, &RunModel::reset, this, [this] {
        clear();
        readAgain();
    });
    connect(&run_, &RunModel::checkpointsChanged, this, &CheckpointChoice::readAgain);
    connect(this, &QComboBox::currentIndexChanged, this, [this] {
        if (checkpoint() != last_) {
            last_ = checkpoint();
            emit checkpointChanged();
        }
    });
}

void CheckpointChoice::showEvent(QShowEvent* event) {
    QComboBox::showEvent(event);
    if (std::exchange(stale_, false)) {
        readAgain();
    }
}

std::filesystem::path CheckpointChoice::checkpoint() const {
    return toPath(currentData().toString());
}

void CheckpointChoice::readAgain() {
    if (run_.isEmpty() || !isVisible()) {
        setEnabled(count() > 0);
        stale_ = true;
        return;
    }
    if (reading_) {
        again_ = true;
        return;
    }
    reading_ = true;
    runInBackground(
        this, [folder = run_.folder()] { return find_checkpoints(folder); },
        [this, folder = run_.folder()](const Found& found) {
            reading_ = false;
            if (std::exchange(again_, false) || folder != run_.folder()) {
                readAgain();
                return;
            }
            const std::string goal = checkpoint::goal_of(run_.config().document).metric;
            const int kept = currentIndex();
            const QString shown = currentText();
            {
                const QSignalBlocker quiet(this);
                clear();
                if (!found.usable.empty()) {
                    const auto step_of = [&](const std::filesystem::path& path) {
                        for (const auto& [step, folder_of] : found.usable) {
                            if (folder_of == path) {
                                return formatCount(step);
                            }
                        }
                        return QString();
                    };
                    const auto& latest = found.usable.back();
                    addItem(tr("Latest · step %1").arg(formatCount(latest.first)),
                            pathText(latest.second));
                    addItem(tr("Best %1 · step %2").arg(metricWords(goal), step_of(found.best)),
                            pathText(found.best));
                    for (auto entry = found.usable.rbegin(); entry != found.usable.rend();
                         ++entry) {
                        addItem(tr("Step %1").arg(formatCount(entry->first)),
                                pathText(entry->second));
                    }
                }
                // Latest and best stay what they are; a step stays the step while it is on disk.
                const int same = kept < 2 ? kept : findText(shown);
                setCurrentIndex(count() == 0 ? -1 : std::max(0, same));
            }
            setEnabled(count() > 0);
            if (checkpoint() != last_) {
                last_ = checkpoint();
                emit checkpointChanged();
            }
        });
}

} // namespace weft::ui
