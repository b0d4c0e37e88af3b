// SPDX-License-Identifier: GPL-3.0-or-later
// What a host has to have, a line each: whether it has it, what was found, and what to do where it
// lacks it.
#pragma once

#include "core/hosts/remote.h"

#include <QWidget>

class QGridLayout;

namespace weft::ui {

class HostChecks : public QWidget {
    Q_OBJECT
public:
    explicit HostChecks(QWidget* parent = nullptr);
    void setChecks(const std::vector<hosts::HostCheck>& checks);
    /// Words in place of checks, while there are none.
    void setText(const QString& text);

private:
    void clear();

    QGridLayout* grid_;
    QString shown_; // as text: the same is not built again
};

} // namespace weft::ui
