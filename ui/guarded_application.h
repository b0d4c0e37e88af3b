// SPDX-License-Identifier: GPL-3.0-or-later
// The application object of the studio and of its tests: the one place where an exception ends that
// nobody caught in a slot, a timer or work in the background, and the one that settles how C writes
// numbers.
#pragma once

#include <QApplication>

#include <clocale>
#include <exception>
#include <functional>
#include <utility>

namespace weft::ui {

class GuardedApplication : public QApplication {
public:
    GuardedApplication(int& argc, char** argv) : QApplication(argc, argv) {
        // QApplication takes the user's locale over for C too. What the engine prints are numbers
        // that it, and others, read again: they have a point everywhere.
        std::setlocale(LC_NUMERIC, "C");
    }

    /// Who hears of it, null where it was no std::exception; nobody: it is printed.
    using FaultListener = std::function<void(const std::exception* fault)>;
    /// Returns who heard of it before.
    FaultListener setFaultListener(FaultListener listener) {
        return std::exchange(listener_, std::move(listener));
    }

    bool notify(QObject* receiver, QEvent* event) override {
        try {
            return QApplication::notify(receiver, event);
        } catch (const std::exception& fault) {
            tell(&fault);
        } catch (...) {
            tell(nullptr);
        }
        return true;
    }

private:
    void tell(const std::exception* fault) const {
        if (listener_) {
            listener_(fault);
        } else {
            qCritical("%s", fault != nullptr ? fault->what() : "an exception of no known type");
        }
    }

    FaultListener listener_;
};

} // namespace weft::ui
