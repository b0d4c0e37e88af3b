// SPDX-License-Identifier: GPL-3.0-or-later
// What a run keeps of an evaluation, read from samples/step-N.json (core/train/samples.h).
#pragma once

#include <QString>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace weft::ui {

struct SaidClass {
    std::int64_t index = 0; // in the validation split
    int label = -1;
    int predicted = -1;
    double probability = 0;
};

/// One number of a sample; one that is not finite is kept as NaN.
struct SaidNumber {
    std::int64_t index = 0;
    QString name; // of the number to predict; empty where it has none
    double target = 0;
    double prediction = 0;
};

struct SaidText {
    std::int64_t index = 0;
    QString prompt;
    QString text;
    QString truth;    // how the data goes on
    bool cut = false; // the time for it was over
};

/// One of the lists has entries, or none: written by another version, or gone.
struct SampleFile {
    std::vector<SaidClass> classes;
    std::vector<SaidNumber> numbers;
    std::vector<SaidText> texts;
    bool isEmpty() const { return classes.empty() && numbers.empty() && texts.empty(); }
};

/// Reads from the disk: not for the GUI thread.
SampleFile readSampleFile(const std::filesystem::path& path);

} // namespace weft::ui
