// SPDX-License-Identifier: GPL-3.0-or-later
// How texts are cut that have too little room, so that what is left still says something.
#pragma once

#include <QFont>
#include <QStringList>

namespace weft::widgets {

/// Each of `texts` as it is written in `width` pixels: in full, or without its middle. Those that
/// would look the same are shown where they differ: "…cosine-1e-3", "…cosine-3e-4".
QStringList elidedApart(const QStringList& texts, const QFont& font, double width);

/// Of facts with " · " between them as many as have room, the first at least: half a number or a
/// word says nothing.
QString wholeFacts(const QString& text, const QFont& font, double width);

} // namespace weft::widgets
