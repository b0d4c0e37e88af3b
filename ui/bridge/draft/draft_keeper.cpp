// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft/draft_keeper.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/draft.h"

#include <QFile>
#include <QLockFile>

#include <algorithm>
#include <functional>
#include <vector>

namespace weft::ui {
namespace {

constexpr int kDraftKeeperSettleMs = 500;

std::string keptText(const config::Json& document, const char* key) {
    const auto found = document.find(key);
    return found != document.end() && found->is_string() ? found->get<std::string>()
                                                         : std::string();
}

// A whole file or none, also when the studio is killed in between. Unlike write_file_atomically it
// does not wait for the disk, which the GUI thread must not do.
QString replace(const std::filesystem::path& file, const std::string& text) {
    std::error_code failure;
    std::filesystem::create_directories(file.parent_path(), failure);
    QFile beside(pathText(file) + ".new");
    if (!beside.open(QFile::WriteOnly) ||
        beside.write(text.data(), static_cast<qint64>(text.size())) !=
            static_cast<qint64>(text.size()) ||
        !beside.flush()) {
        return beside.fileName() + ": " + beside.errorString();
    }
    beside.close();
    std::filesystem::rename(toPath(beside.fileName()), file, failure);
    return failure ? toQString(failure.message()) : QString();
}

/// The drafts that studios left in a folder, that of the last session first.
std::vector<std::filesystem::path> drafts_in(const std::filesystem::path& folder) {
    using Written = std::pair<std::filesystem::file_time_type, std::filesystem::path>;
    std::vector<Written> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        if (entry.path().extension() == ".json" &&
            entry.path().filename().string().starts_with("draft")) {
            found.emplace_back(entry.last_write_time(ignored), entry.path());
        }
    }
    std::sort(found.begin(), found.end(), std::greater<>());
    std::vector<std::filesystem::path> out;
    for (const auto& [written, path] : found) {
        out.push_back(path);
    }
    return out;
}

} // namespace

DraftKeeper::DraftKeeper(Draft& draft, const std::filesystem::path& folder, QObject* parent)
    : QObject(parent), draft_(draft) {
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    for (const std::filesystem::path& file : drafts_in(folder)) {
        if (claim(file)) {
            break;
        }
    }
    for (int number = 1; file_.empty(); ++number) {
        claim(folder / (number == 1 ? "draft.json" : "draft-" + std::to_string(number) + ".json"));
    }
    settle_.setSingleShot(true);
    settle_.setInterval(kDraftKeeperSettleMs);
    connect(&settle_, &QTimer::timeout, this, &DraftKeeper::write);
    connect(&draft_, &Draft::changed, &settle_, qOverload<>(&QTimer::start));
}

DraftKeeper::~DraftKeeper() {
    if (settle_.isActive()) {
        write();
    }
}

// Where nothing can be written there is no lock to take either; write() tells about that.
bool DraftKeeper::claim(const std::filesystem::path& file) {
    auto lock = std::make_unique<QLockFile>(pathText(file) + ".lock");
    lock->setStaleLockTime(0); // it is held as long as its studio lives
    if (!lock->tryLock(0) && lock->error() == QLockFile::LockFailedError) {
        return false;
    }
    file_ = file;
    lock_ = std::move(lock);
    return true;
}

QString DraftKeeper::bringBack() {
    std::error_code ignored;
    if (!std::filesystem::exists(file_, ignored)) {
        return {};
    }
    try {
        const config::Json kept = config::json_of(read_file(file_));
        draft_.restore(keptText(kept, "text"), keptText(kept, "path"), keptText(kept, "base_dir"),
                       kept.value("saved", false));
        settle_.stop(); // it is on disk
        return {};
    } catch (const Error& error) {
        return toQString(error.message());
    } catch (const config::Json::exception&) {
        return tr("%1 is damaged: the draft of the last session could not be brought back.")
            .arg(pathText(file_));
    }
}

void DraftKeeper::write() {
    if (draft_.isEmpty()) {
        return;
    }
    const config::Json kept = {{"path", draft_.path().string()},
                               {"base_dir", draft_.baseDir().string()},
                               {"saved", draft_.isSaved()},
                               {"text", draft_.text()}};
    const std::string text =
        kept.dump(2, ' ', false, config::Json::error_handler_t::replace) + "\n";
    const QString problem = replace(file_, text);
    if (!problem.isEmpty() && !failing_) {
        emit failed(tr("The draft cannot be kept: %1").arg(problem));
    }
    failing_ = !problem.isEmpty();
}

} // namespace weft::ui
