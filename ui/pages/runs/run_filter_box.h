// SPDX-License-Identifier: GPL-3.0-or-later
// The field for a filter of runs: while a name or a text is typed it offers those that the runs
// have, also for nothing yet at the key down.
#pragma once

#include <QLineEdit>

class QCompleter;
class QStringListModel;

namespace weft::ui {

class RunIndex;

class RunFilterBox : public QLineEdit {
    Q_OBJECT
public:
    explicit RunFilterBox(const RunIndex& index, QWidget* parent = nullptr);

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    enum class Asked { ByTyping, ByKey };
    void offer(Asked asked);
    void take(const QString& word);

    const RunIndex& index_;
    QStringListModel* words_;
    QCompleter* completer_;
};

} // namespace weft::ui
