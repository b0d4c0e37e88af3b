// SPDX-License-Identifier: GPL-3.0-or-later
// One sample made by hand for a model that takes numbers: a drawing or picture for images, typed
// numbers for everything else; or a sample of the validation split.
#pragma once

#include "core/ir/type.h"
#include "ui/bridge/sample_pictures.h"

#include <QWidget>

#include <optional>
#include <random>

class QPlainTextEdit;
class QPushButton;

namespace weft::widgets {
class SketchPad;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class TryInput : public QWidget {
    Q_OBJECT
public:
    explicit TryInput(SamplePictures& pictures, QWidget* parent = nullptr);

    /// What the model takes: f32, of any shape.
    void setType(const ir::Type& type);
    /// Row-major, before transforms; nothing while there is nothing to try, or it is wrong.
    std::optional<std::vector<float>> values() const;
    /// Puts a sample of the validation split in.
    void showSample(std::int64_t index);

signals:
    void changed();
    /// Something is wrong with what was given; empty: it is right.
    void objected(const QString& problem);

private:
    QWidget* createDrawing();
    void onEdited();
    void drawSample();
    void openPicture();
    std::optional<std::vector<float>> typedNumbers(QString& problem) const;

    SamplePictures& pictures_;
    ir::Type type_;
    bool image_ = false;
    std::optional<std::vector<float>> exact_; // of the sample that is shown
    std::int64_t total_ = 0;                  // samples to choose from, once known
    std::mt19937_64 random_;
    QWidget* drawing_;
    widgets::SketchPad* pad_;
    QPushButton* undo_;
    QPlainTextEdit* numbers_;
    widgets::TextLabel* subject_;
};

} // namespace weft::ui
