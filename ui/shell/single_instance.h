// SPDX-License-Identifier: GPL-3.0-or-later
// One studio per user, screen and folder of runs: a second one hands over what it was asked for and
// ends.
#pragma once

#include <QByteArray>
#include <QLocalServer>
#include <QStringList>

namespace weft::ui {

/// What a start of the program asks for.
struct LaunchRequest {
    QStringList files; // absolute paths
    QString action;    // id; may be empty
    QByteArray token;  // of the desktop, with which a window may come to the front
};

class SingleInstance : public QObject {
    Q_OBJECT
public:
    enum class Role {
        First,     // this process listens for others
        Forwarded, // another one has taken the request
        Alone,     // another one does not answer, or nobody can listen there: `problem` says it
    };

    explicit SingleInstance(QString socket_path, QObject* parent = nullptr);

    /// Hands the request to the process that listens, or becomes it. A socket that nobody listens
    /// at is removed. Waits for seconds at most.
    Role claim(const LaunchRequest& request);
    QString problem() const { return problem_; }

signals:
    /// An event of its own: whoever hears of it may wait for a dialog.
    void requested(const weft::ui::LaunchRequest& request);

private:
    bool forward(const LaunchRequest& request, bool& somebody_listens);
    void accept();

    const QString path_;
    QLocalServer server_;
    QString problem_;
};

} // namespace weft::ui
