// SPDX-License-Identifier: GPL-3.0-or-later
// Validation samples of a run as pictures, as they are before transforms. The data is opened in the
// background when it is first asked for, and kept until another run is on screen.
#pragma once

#include "ui/bridge/run/run_model.h"

#include <QImage>
#include <QObject>
#include <QStringList>

#include <functional>
#include <memory>

namespace weft::data {
class Encoding;
}

namespace weft::ui {

struct SamplePicture {
    std::int64_t index = 0; // in the validation split
    int label = -1;
    QImage image;              // null where samples are no images
    std::vector<float> values; // row-major, before transforms; empty where they are no f32
};

struct SampleSet {
    std::vector<SamplePicture> pictures;            // those that exist, in the order asked for
    QStringList class_names;                        // may be empty
    QString problem;                                // why there are none
    std::int64_t total = 0;                         // samples of the split
    std::shared_ptr<const data::Encoding> encoding; // of the training samples; may be null
    QString className(std::int64_t index) const;
};

class SamplePictures : public QObject {
    Q_OBJECT
public:
    explicit SamplePictures(RunModel& run, QObject* parent = nullptr);

    /// `done` is called on the GUI thread, unless `context` is gone or another run is on screen by
    /// then.
    void read(QObject* context, std::vector<std::int64_t> indices,
              std::function<void(const SampleSet&)> done);

private:
    struct Held;

    RunModel& run_;
    std::shared_ptr<Held> held_;
};

/// One sample of f32[H,W,C] in 0 to 1 as a picture; null for other types.
QImage samplePicture(const ir::Type& type, std::span<const float> values);

} // namespace weft::ui
