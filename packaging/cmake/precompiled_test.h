// SPDX-License-Identifier: Apache-2.0
// What the tests of the engine parse.
#pragma once

#include "packaging/cmake/precompiled_engine.h"

#include <QtCore/QtCore>
#undef emit // Qt's empty keyword; ops::Builder has a function of this name
