// SPDX-License-Identifier: GPL-3.0-or-later
// One sample made by hand for a model that takes numbers: a drawing or picture for images, a row of
// the table that it was trained on, typed numbers for everything else; or a sample of the
// validation split.
#pragma once

#include "core/ir/type.h"
#include "ui/bridge/run/sample_pictures.h"

#include <QWidget>

#include <optional>
#include <random>

class QPlainTextEdit;
class QPushButton;

namespace weft::widgets {
class SketchPad;
class TextLabel;
} // namespace weft::widgets
namespace weft::data {
class Encoding;
}

namespace weft::ui {

class TryRow;

class TryInput : public QWidget {
    Q_OBJECT
public:
    explicit TryInput(SamplePictures& pictures, QWidget* parent = nullptr);

    /// What the model takes: f32, of any shape; `table` when they are rows of one, else null.
    void setType(const ir::Type& type, std::shared_ptr<const data::Encoding> table);
    /// Row-major, before transforms; nothing while there is nothing to try, or it is wrong.
    std::optional<std::vector<float>> values() const;
    /// Puts a sample of the validation split in.
    void showSample(std::int64_t index);
    /// Where this is shown, a picture may be dropped beside the pad as well as on it.
    bool takesPictures() const { return kind_ == Kind::Drawing; }
    widgets::SketchPad& pad() { return *pad_; }

signals:
    void changed();
    /// Something is wrong with what was given; empty: it is right.
    void objected(const QString& problem);

private:
    enum class Kind : std::uint8_t { Drawing, Row, Numbers };

    QWidget* createDrawing();
    QWidget* createTools();
    void onEdited();
    void clear();
    /// Nothing where there is nothing to try, or `problem` is wrong with it.
    std::optional<std::vector<float>> written(QString& problem) const;
    std::optional<std::vector<float>> rowNumbers(QString& problem) const;
    void drawSample();
    void openPicture();
    std::optional<std::vector<float>> typedNumbers(QString& problem) const;

    SamplePictures& pictures_;
    ir::Type type_;
    Kind kind_ = Kind::Numbers;
    std::shared_ptr<const data::Encoding> table_;
    std::optional<std::vector<float>> exact_; // of the sample that is shown
    std::int64_t total_ = 0;                  // samples to choose from, once known
    std::mt19937_64 random_;
    QWidget* drawing_;
    widgets::SketchPad* pad_;
    QPushButton* undo_;
    QPushButton* open_;
    TryRow* row_;
    QPlainTextEdit* numbers_;
    widgets::TextLabel* subject_;
};

} // namespace weft::ui
