// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/curve_runs.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/run/curve_metric.h"

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kCurveRunsColors = 8;
constexpr int kMostAncestors = 8; // of a chain of forks

bool learnsFromTheSame(const RunModel& a, const RunModel& b) {
    if (!isConfigured(a) || !isConfigured(b)) {
        return isConfigured(a) == isConfigured(b);
    }
    return a.config().section("data").at("train") == b.config().section("data").at("train");
}

} // namespace

CurveRuns::CurveRuns(RunModel& shown, QObject* parent) : QObject(parent), shown_(shown) {
    auto current = std::make_unique<CurveRun>();
    current->id = next_id_++;
    current->shown = &shown_;
    runs_.push_back(std::move(current));
    const int id = runs_.front()->id;
    connect(&shown_, &RunModel::reset, this, [this, id] {
        const bool other = runs_.front()->folder != shown_.folder();
        runs_.front()->folder = shown_.folder();
        // The run on screen is not laid over itself.
        if (const CurveRun* same = find(shown_.folder()); same && same->id != id) {
            remove(same->id);
        }
        emit reset(id);
        if (other) {
            dropUnrelated();
        }
        updatePrefixes();
    });
    connect(&shown_, &RunModel::stateChanged, this, &CurveRuns::updatePrefixes);
    listen(*runs_.front());
    runs_.front()->folder = shown_.folder();
    updatePrefixes();
}

CurveRuns::~CurveRuns() = default;

void CurveRuns::listen(const CurveRun& run) {
    const RunModel* model = &run.model();
    const int id = run.id;
    connect(model, &RunModel::stepsRewound, this, [this, id] { emit reset(id); });
    connect(model, &RunModel::stepsAppended, this, [this, id] { emit stepsAppended(id); });
    const auto marks = [this, id] { emit marksChanged(id); };
    connect(model, &RunModel::evaluationAdded, this, marks);
    connect(model, &RunModel::checkpointsChanged, this, marks);
    connect(model, &RunModel::settingsChanged, this, marks);
    connect(model, &RunModel::keptChanged, this, marks);
    connect(model, &RunModel::stateChanged, this, marks);
    connect(model, &RunModel::failed, this, marks);
}

const CurveRun* CurveRuns::find(const std::filesystem::path& folder) const {
    for (const auto& run : runs_) {
        if (run->folder == folder && run->kind == CurveRun::Kind::Overlay) {
            return run.get();
        }
    }
    return runs_.front()->folder == folder ? runs_.front().get() : nullptr;
}

const CurveRun* CurveRuns::find(int id) const {
    for (const auto& run : runs_) {
        if (run->id == id) {
            return run.get();
        }
    }
    return nullptr;
}

QString CurveRuns::label(const CurveRun& run) const {
    const QString name = run.name();
    const bool shared = std::any_of(runs_.begin(), runs_.end(), [&](const auto& other) {
        return other->id != run.id && other->kind != CurveRun::Kind::Prefix &&
               other->name() == name;
    });
    return shared ? tr("%1, %2").arg(name, toQString(run.folder.filename().string()).left(10))
                  : name;
}

CurveRun* CurveRuns::findMutable(const std::filesystem::path& folder) {
    return const_cast<CurveRun*>(find(folder));
}

// The first of the palette that no visible run has; then they begin again, with other dashes.
int CurveRuns::freeColor() const {
    std::vector<int> used(kCurveRunsColors, 0);
    for (const auto& run : runs_) {
        if (run->kind != CurveRun::Kind::Prefix && run->visible) {
            ++used[static_cast<std::size_t>(run->color % kCurveRunsColors)];
        }
    }
    return static_cast<int>(std::min_element(used.begin(), used.end()) - used.begin());
}

CurveRun& CurveRuns::add(CurveRun::Kind kind, const std::filesystem::path& folder) {
    auto run = std::make_unique<CurveRun>();
    run->id = next_id_++;
    run->kind = kind;
    run->folder = folder;
    run->title = runTitle(folder);
    run->own = std::make_unique<RunModel>();
    run->reader = std::make_unique<RunReader>(*run->own);
    runs_.push_back(std::move(run));
    listen(*runs_.back());
    return *runs_.back();
}

void CurveRuns::setVisible(const std::filesystem::path& folder, bool visible) {
    if (CurveRun* run = findMutable(folder)) {
        if (run->visible != visible) {
            run->visible = visible;
            emit looksChanged(run->id);
            updatePrefixes();
        }
        return;
    }
    if (!visible) {
        return;
    }
    const int color = freeColor();
    const auto alike = std::count_if(runs_.begin(), runs_.end(), [color](const auto& entry) {
        return entry->kind != CurveRun::Kind::Prefix && entry->visible && entry->color == color;
    });
    CurveRun& run = add(CurveRun::Kind::Overlay, folder);
    run.color = color;
    run.dash = static_cast<int>(alike); // solid while the colours last
    emit added(run.id);
    run.reader->open(folder);
    updatePrefixes();
}

void CurveRuns::setColor(const std::filesystem::path& folder, int color) {
    CurveRun* run = findMutable(folder);
    if (run != nullptr && run->color != color) {
        run->color = color;
        emit looksChanged(run->id);
        for (const auto& entry : runs_) {
            if (entry->kind == CurveRun::Kind::Prefix && run->kind == CurveRun::Kind::Current) {
                entry->color = color;
                emit looksChanged(entry->id);
            }
        }
    }
}

void CurveRuns::removeOverlays(const std::function<bool(const CurveRun&)>& which) {
    std::vector<int> ids;
    for (const auto& run : runs_) {
        if (run->kind == CurveRun::Kind::Overlay && which(*run)) {
            ids.push_back(run->id);
        }
    }
    for (const int id : ids) {
        remove(id);
    }
}

void CurveRuns::clearOverlays() {
    removeOverlays([](const CurveRun&) { return true; });
    updatePrefixes();
}

// Curves over other data say nothing beside those of the run that came. What is still being read,
// as after a start, was chosen beside it.
void CurveRuns::dropUnrelated() {
    removeOverlays([this](const CurveRun& run) {
        return !run.model().isEmpty() && !learnsFromTheSame(run.model(), shown_);
    });
}

void CurveRuns::remove(int id) {
    emit aboutToBeRemoved(id);
    std::erase_if(runs_, [id](const auto& run) { return run->id == id; });
}

// What a fork shares with its ancestors is drawn once: not where the ancestor itself is laid over
// it.
void CurveRuns::updatePrefixes() {
    std::vector<std::pair<std::filesystem::path, double>> wanted;
    const RunModel* descendant = &shown_;
    while (descendant->origin() && static_cast<int>(wanted.size()) < kMostAncestors) {
        const ForkOrigin origin = *descendant->origin();
        const double until =
            wanted.empty() ? origin.step : std::min(origin.step, wanted.back().second);
        const CurveRun* overlaid = find(origin.run);
        if (overlaid != nullptr && overlaid->visible && overlaid->kind == CurveRun::Kind::Overlay) {
            break;
        }
        wanted.emplace_back(origin.run, until);
        const auto known = std::find_if(runs_.begin(), runs_.end(), [&](const auto& run) {
            return run->kind == CurveRun::Kind::Prefix && run->folder == origin.run;
        });
        if (known == runs_.end()) {
            break; // its own origin is known when it has been read
        }
        descendant = &(*known)->model();
    }
    std::vector<int> gone;
    for (const auto& run : runs_) {
        const bool kept = std::any_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
            return entry.first == run->folder && entry.second == run->until;
        });
        if (run->kind == CurveRun::Kind::Prefix && !kept) {
            gone.push_back(run->id);
        }
    }
    for (const int id : gone) {
        remove(id);
    }
    for (const auto& [folder, until] : wanted) {
        const bool known =
            std::any_of(runs_.begin(), runs_.end(), [&path = folder](const auto& run) {
                return run->kind == CurveRun::Kind::Prefix && run->folder == path;
            });
        std::error_code ignored;
        if (known || !std::filesystem::is_directory(folder, ignored)) {
            continue;
        }
        CurveRun& run = add(CurveRun::Kind::Prefix, folder);
        run.until = until;
        run.color = runs_.front()->color;
        connect(run.reader.get(), &RunReader::caughtUp, this, &CurveRuns::updatePrefixes,
                Qt::QueuedConnection);
        emit added(run.id);
        run.reader->open(folder);
    }
}

} // namespace weft::ui
