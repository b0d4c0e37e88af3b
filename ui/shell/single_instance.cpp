// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/single_instance.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocalSocket>
#include <QLockFile>

namespace weft::ui {
namespace {

constexpr int kSingleInstancePatienceMs = 3000;
constexpr qint64 kSingleInstanceMostBytes = 1 << 20;
constexpr auto kTaken = "taken\n";

QByteArray toMessage(const LaunchRequest& request) {
    const QJsonObject object{{"files", QJsonArray::fromStringList(request.files)},
                             {"action", request.action},
                             {"token", QString::fromLatin1(request.token)}};
    return QJsonDocument(object).toJson(QJsonDocument::Compact) + '\n';
}

LaunchRequest fromMessage(const QByteArray& line) {
    const QJsonObject object = QJsonDocument::fromJson(line).object();
    LaunchRequest request;
    for (const QJsonValue& file : object.value("files").toArray()) {
        request.files << file.toString();
    }
    request.action = object.value("action").toString();
    request.token = object.value("token").toString().toLatin1();
    return request;
}

} // namespace

SingleInstance::SingleInstance(QString socket_path, QObject* parent)
    : QObject(parent), path_(std::move(socket_path)) {
    server_.setSocketOptions(QLocalServer::UserAccessOption);
    connect(&server_, &QLocalServer::newConnection, this, &SingleInstance::accept);
}

SingleInstance::Role SingleInstance::claim(const LaunchRequest& request) {
    // Two that start at once would each take the other's socket for a stale one.
    QLockFile lock(path_ + ".lock");
    lock.tryLock(kSingleInstancePatienceMs);
    bool somebody_listens = false;
    if (forward(request, somebody_listens)) {
        return Role::Forwarded;
    }
    if (somebody_listens) {
        problem_ = tr("Another studio is open and does not answer; this is a window of its own.");
        return Role::Alone;
    }
    QLocalServer::removeServer(path_);
    if (!server_.listen(path_)) {
        problem_ =
            tr("Later starts of the studio will not find this one: %1.").arg(server_.errorString());
        return Role::Alone;
    }
    return Role::First;
}

bool SingleInstance::forward(const LaunchRequest& request, bool& somebody_listens) {
    QLocalSocket socket;
    socket.connectToServer(path_);
    somebody_listens = socket.waitForConnected(kSingleInstancePatienceMs);
    if (!somebody_listens) {
        return false;
    }
    socket.write(toMessage(request));
    while (!socket.canReadLine()) {
        if (!socket.waitForReadyRead(kSingleInstancePatienceMs)) {
            return false;
        }
    }
    return socket.readLine() == kTaken;
}

void SingleInstance::accept() {
    while (QLocalSocket* socket = server_.nextPendingConnection()) {
        connect(socket, &QLocalSocket::disconnected, socket, &QObject::deleteLater);
        const auto read = [this, socket] {
            while (socket->canReadLine()) {
                const LaunchRequest request = fromMessage(socket->readLine());
                socket->write(kTaken);
                socket->flush();
                // What is asked for may open a dialog, in whose event loop this socket goes away.
                QMetaObject::invokeMethod(
                    this, [this, request] { emit requested(request); }, Qt::QueuedConnection);
            }
            if (socket->bytesAvailable() > kSingleInstanceMostBytes) {
                socket->abort();
            }
        };
        connect(socket, &QLocalSocket::readyRead, this, read);
        read(); // it may have come with the connection
    }
}

} // namespace weft::ui
