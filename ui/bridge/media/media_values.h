// SPDX-License-Identifier: GPL-3.0-or-later
// Values of TensorBoard files (core/train/logging/tensorboard_media.h) made ready to be drawn. All
// of it reads from the disk: not for the GUI thread.
#pragma once

#include "core/train/logging/tensorboard_media.h"
#include "ui/bridge/media/sound_wave.h"

#include <QImage>
#include <QString>
#include <QStringList>

#include <array>

namespace weft::ui {

/// Only what belongs to its kind is filled.
struct DrawnMedia {
    QString problem;              // why there is nothing
    std::vector<QImage> pictures; // null: cannot be read
    qint64 more_pictures = 0;     // that were left out
    QStringList texts;            // as they read; what marks them up is gone
    SoundWave sound;
    std::vector<qint64> counts; // in equal parts from `low` to `high`
    double low = 0, high = 0, total = 0;
    std::vector<double> recall, precision; // by recall, ascending
    std::vector<train::MediaFile> files;   // to be saved
};

DrawnMedia readDrawnMedia(const std::filesystem::path& folder, train::MediaKind kind,
                          const train::MediaPlace& place);

/// Writes the files of a value: one to the path `place`, several as STEM-1.png and so on into the
/// folder `place`. What went wrong; empty: nothing.
QString saveMedia(const std::vector<train::MediaFile>& files, const std::filesystem::path& place,
                  const QString& stem);

/// What shares of the numbers lie below: those of a normal distribution at half standard deviations
/// (TensorBoard, plugins/distribution/compressor.py).
inline constexpr std::array<double, 9> kSpreadShares = {0,      0.0668, 0.1587, 0.3085, 0.5,
                                                        0.6915, 0.8413, 0.9332, 1};

/// How the numbers of histograms were spread, step by step.
struct MediaSpread {
    std::vector<double> steps;
    std::array<std::vector<double>, kSpreadShares.size()> levels; // of each share
    std::size_t all = 0; // steps there are; of many, some are taken, evenly
};

/// The number below which each share of a histogram lies; linear within a bucket.
std::array<double, kSpreadShares.size()> spreadLevels(const train::MediaHistogram& histogram);

/// Empty when it is stopped; damaged values are left out.
MediaSpread readMediaSpread(const std::filesystem::path& folder,
                            const std::vector<train::MediaPlace>& places,
                            const std::stop_token& stop);

} // namespace weft::ui
