// SPDX-License-Identifier: GPL-3.0-or-later
// What there is to say of data that are being opened: how far it is and how long it will take.
#pragma once

#include "core/data/opening.h"

#include <QObject>
#include <QString>

namespace weft::ui {

/// "prices.csv, pass 1 of 2: 412,000 rows, 38 MB of 91 MB · 12 s, about 14 s left"
QString openingText(const data::Opening& opening, double seconds);

/// News of work in the background, brought to the GUI thread. Nothing is said of what takes less
/// than a second.
class OpeningNews : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    /// For OpenContext::on_opening of the next work; news of the one before are dropped. `clock`
    /// must outlive the work; null: the system's.
    data::OnOpening begin(const Clock* clock = nullptr);
    /// The work has ended, for now.
    void end();

    bool isSlow() const { return !text_.isEmpty(); }
    QString text() const { return text_; }
    /// 0 to 1; negative where it is not known.
    double share() const { return share_; }

signals:
    void changed();

private:
    QString text_;
    double share_ = -1;
    int work_ = 0;
};

} // namespace weft::ui
