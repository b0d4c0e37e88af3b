// SPDX-License-Identifier: GPL-3.0-or-later
// A prompt for a language model, how to choose tokens, and what it writes, as it writes it.
#pragma once

#include "core/train/generate.h"

#include <QStringDecoder>
#include <QWidget>

class QDoubleSpinBox;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace weft::ui {

class TryText : public QWidget {
    Q_OBJECT
public:
    explicit TryText(QWidget* parent = nullptr);

    QByteArray prompt() const;
    /// The prompt, and what the model wrote behind it so far.
    QByteArray whole() const;
    train::GenerateOptions options() const;
    /// Empties the output and shows the prompt at its beginning.
    void begin();
    void append(const QByteArray& bytes);
    void end();
    bool isWriting() const { return writing_; }
    /// Why nothing can be asked for; empty: it can.
    void setBlocked(const QString& reason);

signals:
    /// The prompt is another, or the model has done.
    void changed();
    void wanted();
    void stopped();

private:
    void updateButton();

    QPlainTextEdit* prompt_;
    QDoubleSpinBox* temperature_;
    QSpinBox* top_k_;
    QSpinBox* tokens_;
    QSpinBox* seed_;
    QPushButton* button_;
    QPlainTextEdit* output_;
    QStringDecoder decoder_{QStringDecoder::Utf8};
    QString blocked_;
    bool writing_ = false;
};

} // namespace weft::ui
