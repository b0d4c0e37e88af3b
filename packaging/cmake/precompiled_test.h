// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests parse; widgets only where the studio is built.
#pragma once

#include "packaging/cmake/precompiled_engine.h"

#if __has_include(<QtWidgets/QtWidgets>)
#include <QtWidgets/QtWidgets>
#endif

#include <QtTest/QtTest>
#undef emit // Qt's empty keyword; ops::Builder has a function of this name
