// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft_keeper.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft.h"

#include <QFile>

namespace weft::ui {
namespace {

constexpr int kSettleMs = 500;

std::string text_of(const config::Json& document, const char* key) {
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

} // namespace

DraftKeeper::DraftKeeper(Draft& draft, std::filesystem::path file, QObject* parent)
    : QObject(parent), draft_(draft), file_(std::move(file)) {
    settle_.setSingleShot(true);
    settle_.setInterval(kSettleMs);
    connect(&settle_, &QTimer::timeout, this, &DraftKeeper::write);
    connect(&draft_, &Draft::changed, &settle_, qOverload<>(&QTimer::start));
}

DraftKeeper::~DraftKeeper() {
    if (settle_.isActive()) {
        write();
    }
}

QString DraftKeeper::bringBack() {
    std::error_code ignored;
    if (!std::filesystem::exists(file_, ignored)) {
        return {};
    }
    try {
        const config::Json kept = config::Json::parse(read_file(file_));
        draft_.restore(text_of(kept, "text"), text_of(kept, "path"), text_of(kept, "base_dir"),
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
