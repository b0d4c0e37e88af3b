// SPDX-License-Identifier: GPL-3.0-or-later
// What a run found of a loss or gradient that was not finite, read from divergence/step-N.json and
// the pictures beside it (core/train/rewind/divergence_file.h).
#pragma once

#include "core/train/record/event.h"

#include <QImage>
#include <QString>
#include <QStringList>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace weft::ui {

/// An array that the first bad op read, or made.
struct SeenArray {
    QString name;
    QString type; // "f32[32,10]"
    qint64 infinite = 0, nan = 0;
    bool has_range = false; // some of it is finite
    double low = 0, high = 0;
    QString highest_at; // "sample 5, feature 2"
    QString first_bad_at;
    std::vector<qint64> counts; // of the finite ones, from low to high in equal parts; may be empty
};

struct BatchSample {
    qint64 index = 0;
    QString place; // "prices.csv, row 21"
    QString name;  // of its class; may be empty
    QString text;  // what it holds, where it is no picture
    bool suspect = false;
    QImage picture; // null: it is none
};

struct LayerNormRow {
    QString name;
    std::vector<double> norms; // one for each step; NaN: not finite or not known
    std::vector<bool> bad;     // not finite
};

struct DivergenceRecord {
    std::int64_t step = 0; // 0: there is none, or it cannot be read
    QString message, where, hint;
    QString op, group, layer, phase; // empty: the replay stayed finite
    std::vector<SeenArray> inputs;
    SeenArray output;
    std::vector<BatchSample> samples;
    qint64 epoch = 0, first = 0, count = 0; // of the batch
    std::vector<std::int64_t> norm_steps;
    std::vector<LayerNormRow> norms;
    bool norms_of_parts = false; // of what one device holds
    std::vector<train::WayOn> ways;
    std::int64_t back_to = -1, passes_over = 0;
};

/// Reads from the disk: not for the GUI thread.
DivergenceRecord readDivergenceRecord(const std::filesystem::path& run, std::int64_t step);

} // namespace weft::ui
