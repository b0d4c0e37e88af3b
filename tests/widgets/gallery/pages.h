// SPDX-License-Identifier: GPL-3.0-or-later
// The gallery's pages, in the manner of the studio's pages.
#pragma once

class QWidget;

namespace weft::gallery {

QWidget* makeHomePage();
QWidget* makeTrainPage();
QWidget* makeCheckpointsPage();
QWidget* makeControlsPage();
QWidget* makeMessagesPage();
QWidget* makePlanPage();
QWidget* makeTrainingPage();

} // namespace weft::gallery
