// SPDX-License-Identifier: GPL-3.0-or-later
// What a run keeps of an evaluation, read from samples/step-N.json and the picture beside it
// (core/train/samples.h, core/train/pictures/picture_document.h,
// core/train/boards/board_document.h).
#pragma once

#include <QImage>
#include <QString>

#include <algorithm>
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

/// A sample of the data, what a model gave back of it, and what it made of a latent of its own.
struct MadePicture {
    std::int64_t index = 0; // of the sample of the data
    QString name;           // of the class of the made one; empty where it has none
    QImage data;
    QImage reconstruction; // null where the model gives nothing back
    QImage made;
};

/// How boards are written: a character for each cell, row by row.
struct BoardLook {
    int rows = 0, columns = 0;
    int box_rows = 0, box_columns = 0; // 0: there are no boxes
    QString symbols{};                 // a character for each class
    QChar blank{};

    int cells() const { return rows * columns; }
};

/// A board that a model filled, cycle by cycle.
struct SaidBoard {
    std::int64_t index = 0;
    QString given{}, answer{};     // '?' in an answer: the cell is not judged
    std::vector<QString> cycles{}; // the last one stands for all that follow
    bool halts = false;            // of its own accord
    int after = 0;                 // steps

    const QString& at(int cycle) const {
        return cycles[std::min(static_cast<std::size_t>(cycle), cycles.size() - 1)];
    }
};

struct SaidBoards {
    std::int64_t step = 0;
    BoardLook look{};
    int steps = 0, cycles = 0; // cycles of a step
    std::int64_t counted = 0;  // boards of the counts below, one number for each step
    std::vector<qint64> right{}, halted_right{}, halted_wrong{};
    std::vector<SaidBoard> boards{};
};

/// One of the lists has entries, or none: written by another version, or gone.
struct SampleFile {
    std::vector<SaidClass> classes;
    std::vector<SaidNumber> numbers;
    std::vector<SaidText> texts;
    std::vector<MadePicture> pictures;
    SaidBoards boards;
    bool isEmpty() const {
        return classes.empty() && numbers.empty() && texts.empty() && pictures.empty() &&
               boards.boards.empty();
    }
};

/// Reads from the disk: not for the GUI thread.
SampleFile readSampleFile(const std::filesystem::path& path);

} // namespace weft::ui
