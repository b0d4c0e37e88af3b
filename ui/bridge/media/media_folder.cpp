// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/media/media_folder.h"

#include "core/train/logging/tensorboard_reader.h"
#include "ui/bridge/convert.h"

#include <QElapsedTimer>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr qint64 kLeastLookMs = 1000; // between two looks
constexpr qint64 kRestAfterLook = 10; // times what the one before took

} // namespace

MediaFolder::MediaFolder(RunModel& run, QObject* parent) : QObject(parent), run_(run) {
    timer_.setSingleShot(true);
    connect(&timer_, &QTimer::timeout, this, &MediaFolder::look);
    connect(&run_, &RunModel::reset, this, &MediaFolder::begin);
    begin();
}

void MediaFolder::begin() {
    job_.drop();
    timer_.stop();
    index_ = {};
    bytes_ = 0;
    folder_ = run_.isForeign() ? run_.folder() : std::filesystem::path();
    emit reset();
    if (!folder_.empty()) {
        look();
    }
}

MediaFolder::Look MediaFolder::lookAt(const std::filesystem::path& folder, std::uintmax_t known,
                                      const std::stop_token& stop) {
    Look out;
    QElapsedTimer clock;
    clock.start();
    try {
        for (const std::filesystem::path& file : train::tensorboard_files(folder)) {
            out.bytes += std::filesystem::file_size(file);
        }
        out.is_new = out.bytes != known;
        if (out.is_new) {
            out.index = train::index_media(folder, stop);
        }
    } catch (const std::exception& fault) {
        out.is_new = true;
        out.index.problems.push_back(faultText(fault).toStdString());
    }
    out.took_ms = clock.elapsed();
    return out;
}

void MediaFolder::look() {
    job_.start([folder = folder_, known = bytes_](
                   const std::stop_token& stop) { return lookAt(folder, known, stop); },
               [this](Look found) {
                   timer_.start(static_cast<int>(
                       std::clamp<qint64>(found.took_ms * kRestAfterLook, kLeastLookMs, 600000)));
                   if (found.is_new) {
                       bytes_ = found.bytes;
                       index_ = std::move(found.index);
                       emit changed();
                   }
               });
}

} // namespace weft::ui
