// SPDX-License-Identifier: GPL-3.0-or-later
// Samples by their numbers in files, as pictures or words. The data of the run on screen are opened
// in the background when they are first asked for, without transforms.
#pragma once

#include "ui/bridge/run/run_model.h"

#include <QImage>
#include <QObject>
#include <QString>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft::ui {

struct SampleName {
    std::string part; // "train", "validation", "test"
    std::int64_t index = 0;
};

struct SampleLook {
    SampleName sample;
    QImage picture; // null where it is none
    QString words;  // "age 41, colour=red 1": of what is no picture
    int label = -1;
};

class SuspectLooks : public QObject {
    Q_OBJECT
public:
    explicit SuspectLooks(RunModel& run, QObject* parent = nullptr);

    /// `done` with those that could be read, on the GUI thread, unless another run is on screen by
    /// then. Pictures are scaled down to `side` pixels.
    void read(std::vector<SampleName> samples, int side,
              std::function<void(const std::vector<SampleLook>&)> done);

private:
    struct Held;

    RunModel& run_;
    std::shared_ptr<Held> held_;
};

} // namespace weft::ui
