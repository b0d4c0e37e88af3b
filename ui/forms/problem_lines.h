// SPDX-License-Identifier: GPL-3.0-or-later
// What is wrong with the fields above, one line each: icon, field, words, hint. While somebody
// types, new words wait a moment, so that half a number is not called wrong at once.
#pragma once

#include <QString>
#include <QTimer>
#include <QWidget>

#include <vector>

class QVBoxLayout;

namespace weft::ui {

struct ProblemLine {
    bool error = true;
    QString text;
    QString pointer; // whose value can be taken out, or empty
    bool operator==(const ProblemLine&) const = default;
};

class ProblemLines : public QWidget {
    Q_OBJECT
public:
    explicit ProblemLines(QWidget* parent = nullptr);

    void setLines(const std::vector<ProblemLine>& lines);
    /// The user is typing.
    void hold();
    /// The user is done.
    void release();

signals:
    /// "Remove" beside a field that is none.
    void removeRequested(const QString& pointer);

private:
    void show();

    std::vector<ProblemLine> wanted_, shown_;
    QTimer waiting_;
    QVBoxLayout* column_;
};

} // namespace weft::ui
