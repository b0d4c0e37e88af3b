// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/run_index.h"

#include "core/base/error.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLockFile>
#include <QSaveFile>

#include <algorithm>

namespace weft::ui {
namespace {

struct Places {
    std::filesystem::path root;
    std::filesystem::path cache;
    std::vector<std::filesystem::path> opened;
};

/// "logs/lr-0.1": as TensorBoard names the runs of a folder, with the folder before.
std::string name_below(const std::filesystem::path& run, const std::filesystem::path& opened) {
    const std::filesystem::path below = run.lexically_relative(opened);
    return below == "." ? opened.filename().string() : (opened.filename() / below).string();
}

struct Listed {
    std::vector<train::RunSummary> runs;
    train::RunNames names;
    std::vector<std::filesystem::path> weights;
    QString problem;
};

/// An opened folder that is gone stays in the list as something unreadable.
train::RunSummary missing_run(const std::filesystem::path& opened) {
    train::RunSummary run;
    run.folder = opened;
    run.problem =
        weft::ui::RunIndex::tr("%1 is no longer there").arg(pathText(opened)).toStdString();
    run.stamp = "missing";
    return run;
}

void add_opened(const std::filesystem::path& opened, const std::vector<train::RunSummary>& known,
                Listed& listed) {
    std::error_code ignored;
    if (!std::filesystem::exists(opened, ignored)) {
        listed.runs.push_back(missing_run(opened));
        return;
    }
    train::FoundRuns found;
    try {
        found = train::find_runs(opened);
    } catch (const std::exception& fault) { // of the file system, too
        listed.problem = faultText(fault);
        return;
    }
    listed.weights.insert(listed.weights.end(), found.weights.begin(), found.weights.end());
    std::vector<train::RunSummary>& runs = listed.runs;
    std::vector<std::filesystem::path> folders = std::move(found.folders);
    std::erase_if(folders, [&](const auto& folder) {
        return std::any_of(runs.begin(), runs.end(),
                           [&](const auto& run) { return run.folder == folder; });
    });
    for (train::RunSummary& run : train::summarise_runs(folders, known)) {
        if (run.source != train::RunSource::weft) {
            run.info.name = name_below(run.folder, opened);
        }
        runs.push_back(std::move(run));
    }
}

void write_cache(const std::filesystem::path& path, const std::vector<train::RunSummary>& runs) {
    try {
        train::write_run_cache(path, runs);
    } catch (const Error&) {
        // Without it the next start reads every run again.
    }
}

bool same_stamps(const std::vector<train::RunSummary>& a, const std::vector<train::RunSummary>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.folder == y.folder && x.stamp == y.stamp;
    });
}

Listed read_runs(const Places& places, std::vector<train::RunSummary> known, bool first) {
    if (first && !places.cache.empty()) {
        known = train::read_run_cache(places.cache);
    }
    Listed listed;
    try {
        listed.runs = train::list_runs(places.root, known);
    } catch (const std::exception& fault) { // of the file system, too
        listed.problem = faultText(fault);
    }
    for (const std::filesystem::path& opened : places.opened) {
        add_opened(opened, known, listed);
    }
    if (!places.cache.empty() && !same_stamps(known, listed.runs)) {
        write_cache(places.cache, listed.runs);
    }
    for (const train::RunSummary& run : listed.runs) {
        listed.names.add(run);
    }
    return listed;
}

constexpr int kOpenedLockMs = 300; // others hold it for one small file

std::vector<std::filesystem::path> read_opened(const std::filesystem::path& file_name) {
    std::vector<std::filesystem::path> opened;
    QFile file(pathText(file_name));
    if (!file_name.empty() && file.open(QIODevice::ReadOnly)) {
        for (const QJsonValue& folder : QJsonDocument::fromJson(file.readAll()).array()) {
            opened.push_back(toPath(folder.toString()));
        }
    }
    return opened;
}

/// How many are looked into in one trip to the background.
constexpr std::size_t kCheckpointsAtOnce = 256;

std::vector<checkpoint::Entry> found_entries(const std::filesystem::path& run_folder) {
    try {
        return checkpoint::find_checkpoints(run_folder / "checkpoints");
    } catch (const Error& error) {
        checkpoint::Entry entry;
        entry.path = run_folder / "checkpoints";
        entry.problem = error.message();
        return {entry};
    }
}

} // namespace

RunIndex::RunIndex(std::filesystem::path root, QObject* parent)
    : QObject(parent), root_(std::move(root)) {
    writer_.setMaxThreadCount(1);
}

RunIndex::~RunIndex() = default;

void RunIndex::setRoot(const std::filesystem::path& root) {
    root_ = root;
    refresh();
}

void RunIndex::setFiles(const std::filesystem::path& opened, const std::filesystem::path& cache) {
    opened_file_ = opened;
    cache_ = cache;
    opened_ = read_opened(opened_file_);
}

void RunIndex::addFolder(const std::filesystem::path& folder) {
    const bool own = folder.parent_path() == root_ && train::is_run_folder(folder);
    const bool below = std::any_of(opened_.begin(), opened_.end(), [&](const auto& opened) {
        const std::filesystem::path inside = folder.lexically_relative(opened);
        return !inside.empty() && *inside.begin() != "..";
    });
    if (!own && !below) {
        opened_.push_back(folder);
        rememberOpened(folder, Remember::Added);
    }
    refresh();
}

void RunIndex::closeFolder(const std::filesystem::path& folder) {
    if (std::erase(opened_, folder) > 0) {
        rememberOpened(folder, Remember::Closed);
        refresh();
    }
}

void RunIndex::rememberOpened(const std::filesystem::path& folder, Remember what) {
    if (opened_file_.empty()) {
        return;
    }
    QLockFile lock(pathText(opened_file_) + ".lock");
    QSaveFile file(pathText(opened_file_));
    bool kept = lock.tryLock(kOpenedLockMs);
    if (kept) {
        opened_ = read_opened(opened_file_); // with what other studios opened and closed
        std::erase(opened_, folder);
        if (what == Remember::Added) {
            opened_.push_back(folder);
        }
        QJsonArray folders;
        for (const std::filesystem::path& opened : opened_) {
            folders.append(pathText(opened));
        }
        kept = file.open(QIODevice::WriteOnly) &&
               file.write(QJsonDocument(folders).toJson()) >= 0 && file.commit();
    }
    if (!kept) {
        emit failed(tr("%1 cannot be written: which folders are open is forgotten when the studio "
                       "is closed.")
                        .arg(pathText(opened_file_)));
    }
}

void RunIndex::refresh() {
    if (reading_) {
        again_ = true;
        return;
    }
    reading_ = true;
    runInBackground(
        this,
        [places = Places{root_, cache_, opened_}, known = runs_, first = !loaded_] {
            return read_runs(places, known, first);
        },
        [this](Listed listed) {
            reading_ = false;
            loaded_ = true;
            runs_ = std::move(listed.runs);
            names_ = std::move(listed.names);
            weights_ = std::move(listed.weights);
            emit runsChanged();
            if (!listed.problem.isEmpty()) {
                emit failed(listed.problem);
            }
            if (std::exchange(again_, false)) {
                refresh();
            }
        });
}

const train::RunSummary* RunIndex::find(const std::filesystem::path& folder) const {
    const auto found = std::find_if(runs_.begin(), runs_.end(),
                                    [&](const auto& run) { return run.folder == folder; });
    return found == runs_.end() ? nullptr : &*found;
}

void RunIndex::follow(const std::filesystem::path& folder, std::int64_t step, double seconds) {
    const auto found = std::find_if(runs_.begin(), runs_.end(),
                                    [&](const auto& run) { return run.folder == folder; });
    if (found != runs_.end()) {
        found->step = step;
        found->seconds = seconds;
        emit runMoved(*found);
    }
}

void RunIndex::annotate(const std::filesystem::path& run, const train::AnnotationChange& change) {
    struct Written {
        train::Annotations now;
        QString problem;
    };
    runInBackground(
        this,
        [run, change]() -> Written {
            try {
                return {train::change_annotations(run, change), {}};
            } catch (const Error& error) {
                return {{}, toQString(error.message())};
            }
        },
        [this, run](const Written& written) {
            if (!written.problem.isEmpty()) {
                emit failed(written.problem);
                return;
            }
            for (train::RunSummary& known : runs_) {
                if (known.folder == run) {
                    known.annotations = written.now;
                    names_.add(known);
                }
            }
            again_ = reading_; // what is being read may be older
            emit runsChanged();
        },
        &writer_);
}

void RunIndex::readCheckpoints(const std::filesystem::path& run_folder) {
    const int request = ++requests_[run_folder];
    runInBackground(
        this, [run_folder] { return std::make_shared<Entries>(found_entries(run_folder)); },
        [this, run_folder, request](const std::shared_ptr<Entries>& entries) {
            if (request != requests_[run_folder]) {
                return;
            }
            if (entries->size() > kCheckpointsAtOnce) {
                emit checkpointsFound(run_folder, *entries);
            }
            readEntries(run_folder, entries, entries->size(), request);
        });
}

// The newest first: those are looked at. The background alone has the entries meanwhile.
void RunIndex::readEntries(const std::filesystem::path& run_folder,
                           std::shared_ptr<Entries> entries, std::size_t left, int request) {
    runInBackground(
        this,
        [entries, left] {
            const std::size_t first = left - std::min(left, kCheckpointsAtOnce);
            for (std::size_t i = first; i < left; ++i) {
                checkpoint::Entry& entry = (*entries)[i];
                entry = entry.looked_into ? entry : checkpoint::read_entry(entry.path);
            }
            if (first == 0) {
                checkpoint::work_out_reasons(*entries);
            }
            return first;
        },
        [this, run_folder, entries, request](std::size_t first) {
            if (request != requests_[run_folder]) {
                return;
            }
            if (first == 0) {
                emit checkpointsRead(run_folder, *entries);
                return;
            }
            emit checkpointsFound(run_folder, *entries);
            readEntries(run_folder, entries, first, request);
        });
}

} // namespace weft::ui
