// SPDX-License-Identifier: GPL-3.0-or-later
// What most sources of the studio parse.
#pragma once

#include "packaging/cmake/precompiled_engine.h"

#include <QtWidgets/QtWidgets>
