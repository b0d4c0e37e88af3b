// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/try_input.h"

#include "core/base/error.h"
#include "ui/bridge/convert.h"
#include "ui/file_dialog.h"
#include "ui/pages/live/try_row.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"
#include "widgets/views/sketch_pad.h"

#include <QImageReader>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <cmath>

namespace weft::ui {
namespace {

constexpr int kPadSide = 216;
constexpr int kNumbersHeight = 96;

QPushButton* compact_button(const QString& text, const QString& name, const QString& tip) {
    auto* button = new QPushButton(text);
    button->setObjectName(name);
    button->setToolTip(tip);
    widgets::setCompact(button);
    return button;
}

} // namespace

TryInput::TryInput(SamplePictures& pictures, QWidget* parent)
    : QWidget(parent), pictures_(pictures), random_(std::random_device{}()) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    drawing_ = createDrawing();
    column->addWidget(drawing_);
    row_ = new TryRow;
    column->addWidget(row_);
    numbers_ = new QPlainTextEdit;
    numbers_->setObjectName("tryNumbers");
    numbers_->setAccessibleName(tr("Numbers of a sample"));
    numbers_->setFixedHeight(kNumbersHeight);
    numbers_->setTabChangesFocus(true);
    column->addWidget(numbers_);
    column->addWidget(createTools());
    subject_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted);
    subject_->setObjectName("trySubject");
    subject_->setWordWrap(true);
    column->addWidget(subject_);

    connect(pad_, &widgets::SketchPad::changed, this, &TryInput::onEdited);
    connect(pad_, &widgets::SketchPad::rejected, this, [this](const QString& path) {
        emit objected(tr("%1 is no picture that can be read.").arg(path.section('/', -1)));
    });
    connect(numbers_, &QPlainTextEdit::textChanged, this, &TryInput::onEdited);
    connect(&row_->row(), &WrittenRowModel::edited, this, &TryInput::onEdited);
}

QWidget* TryInput::createTools() {
    auto* tools = new QWidget;
    auto* row = new widgets::FlowLayout(tools);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(4);
    QPushButton* sample = compact_button(tr("Validation sample"), "trySample",
                                         tr("Any sample that the model was not trained on"));
    row->addWidget(sample);
    open_ = compact_button(tr("Picture…"), "tryPicture",
                           tr("A picture file, scaled to the model's size"));
    row->addWidget(open_);
    undo_ = compact_button(tr("Undo"), "tryUndo", tr("Takes the last stroke back (Ctrl+Z)"));
    row->addWidget(undo_);
    QPushButton* clear = compact_button(tr("Clear"), "tryClear", tr("An empty input"));
    row->addWidget(clear);
    connect(sample, &QPushButton::clicked, this, &TryInput::drawSample);
    connect(open_, &QPushButton::clicked, this, &TryInput::openPicture);
    connect(undo_, &QPushButton::clicked, pad_, &widgets::SketchPad::undo);
    connect(clear, &QPushButton::clicked, this, &TryInput::clear);
    return tools;
}

QWidget* TryInput::createDrawing() {
    auto* around = new QWidget;
    auto* row = new QHBoxLayout(around);
    row->setContentsMargins(0, 0, 0, 0);
    pad_ = new widgets::SketchPad;
    pad_->setObjectName("sketchPad");
    pad_->setFixedSize(kPadSide, kPadSide);
    pad_->setToolTip(tr("Left button draws, right button rubs out. Arrows, Space and Backspace do "
                        "the same by keyboard."));
    row->addStretch(1);
    row->addWidget(pad_);
    row->addStretch(1);
    return around;
}

void TryInput::setType(const ir::Type& type, std::shared_ptr<const data::Encoding> table) {
    type_ = type;
    table_ = std::move(table);
    std::vector<data::InputColumn> columns = data::input_columns(table_.get());
    kind_ = type.shape.rank() == 3 && (type.shape[2] == 1 || type.shape[2] == 3) ? Kind::Drawing
            : columns.empty()                                                    ? Kind::Numbers
                                                                                 : Kind::Row;
    exact_.reset();
    total_ = 0;
    subject_->setText({});
    drawing_->setVisible(kind_ == Kind::Drawing);
    undo_->setVisible(kind_ == Kind::Drawing);
    open_->setVisible(kind_ == Kind::Drawing);
    row_->setVisible(kind_ == Kind::Row);
    numbers_->setVisible(kind_ == Kind::Numbers);
    row_->setColumns(std::move(columns));
    {
        const QSignalBlocker quiet(numbers_);
        numbers_->clear();
    }
    numbers_->setPlaceholderText(
        tr("%1 numbers, separated by spaces or commas").arg(type.shape.elements()));
    if (kind_ == Kind::Drawing) {
        pad_->setFormat(static_cast<int>(type.shape[1]), static_cast<int>(type.shape[0]),
                        static_cast<int>(type.shape[2]));
        const QSignalBlocker quiet(pad_);
        pad_->clear();
    }
    undo_->setEnabled(pad_->canUndo());
    emit changed();
}

void TryInput::onEdited() {
    exact_.reset();
    subject_->setText({});
    undo_->setEnabled(pad_->canUndo());
    QString problem;
    written(problem);
    emit objected(problem);
    emit changed();
}

void TryInput::clear() {
    switch (kind_) {
    case Kind::Drawing: pad_->clear(); return;
    case Kind::Numbers: numbers_->clear(); return;
    case Kind::Row: break;
    }
    row_->row().clear();
    onEdited();
}

std::optional<std::vector<float>> TryInput::written(QString& problem) const {
    switch (kind_) {
    case Kind::Row: return rowNumbers(problem);
    case Kind::Numbers: return typedNumbers(problem);
    case Kind::Drawing: break;
    }
    return pad_->isBlank() ? std::nullopt : std::optional(pad_->values());
}

std::optional<std::vector<float>> TryInput::rowNumbers(QString& problem) const {
    if (row_->row().isBlank()) {
        return std::nullopt;
    }
    try {
        return data::sample_of_row(*table_, row_->row().cells());
    } catch (const Error& error) {
        problem = toQString(error.message());
        return std::nullopt;
    }
}

std::optional<std::vector<float>> TryInput::typedNumbers(QString& problem) const {
    static const QRegularExpression between("[\\s,;]+");
    const QStringList words = numbers_->toPlainText().split(between, Qt::SkipEmptyParts);
    if (words.isEmpty()) {
        return std::nullopt;
    }
    std::vector<float> values;
    for (const QString& word : words) {
        bool is_number = false;
        const double value = QLocale::c().toDouble(word, &is_number);
        if (!is_number || !std::isfinite(value)) {
            problem = tr("\"%1\" is no number.").arg(word);
            return std::nullopt;
        }
        values.push_back(static_cast<float>(value));
    }
    const std::int64_t wanted = type_.shape.elements();
    if (static_cast<std::int64_t>(values.size()) != wanted) {
        problem = tr("There are %1 numbers; the model takes %2.").arg(values.size()).arg(wanted);
        return std::nullopt;
    }
    return values;
}

std::optional<std::vector<float>> TryInput::values() const {
    QString ignored;
    return exact_ ? exact_ : written(ignored);
}

void TryInput::drawSample() {
    if (total_ > 0) {
        showSample(std::uniform_int_distribution<std::int64_t>(0, total_ - 1)(random_));
        return;
    }
    // How many there are is known once the data is open.
    pictures_.read(this, {}, [this](const SampleSet& samples) {
        total_ = samples.total;
        if (total_ > 0) {
            drawSample();
        } else {
            emit objected(samples.problem.isEmpty() ? tr("This run has no validation split.")
                                                    : samples.problem);
        }
    });
}

void TryInput::showSample(std::int64_t index) {
    pictures_.read(this, {index}, [this](const SampleSet& samples) {
        if (samples.pictures.empty() || samples.pictures.front().values.empty()) {
            emit objected(samples.problem.isEmpty() ? tr("There is no such sample.")
                                                    : samples.problem);
            return;
        }
        const SamplePicture& sample = samples.pictures.front();
        if (kind_ == Kind::Drawing) {
            pad_->setImage(sample.image);
        } else if (kind_ == Kind::Row) {
            row_->row().setCells(data::row_of_sample(*table_, sample.values));
        } else {
            QStringList words;
            for (const float value : sample.values) {
                words << QString::number(static_cast<double>(value), 'g', 9);
            }
            numbers_->setPlainText(words.join(' '));
        }
        exact_ = sample.values; // what is shown of it may have fewer digits or shades
        const QString name = tr("Validation sample %1").arg(sample.index);
        subject_->setText(
            sample.label >= 0 ? tr("%1 · is %2").arg(name, samples.className(sample.label)) : name);
        pad_->setSubject(subject_->text());
        emit changed();
    });
}

void TryInput::openPicture() {
    const QString path = askForFile(this, {tr("Open a picture"), FileUse::Data,
                                           tr("Pictures (*.png *.jpg *.jpeg *.bmp *.gif *.webp)")});
    if (path.isEmpty()) {
        return;
    }
    QImageReader reader(path);
    reader.setAutoTransform(true);
    const QImage image = reader.read();
    if (image.isNull()) {
        emit objected(tr("%1 cannot be read: %2").arg(path.section('/', -1), reader.errorString()));
        return;
    }
    pad_->setImage(image);
    subject_->setText(path.section('/', -1));
    pad_->setSubject(subject_->text());
}

} // namespace weft::ui
