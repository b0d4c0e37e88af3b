// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace weft::widgets {

/// Registers, once, the interface that shows a PaintedView's items to assistive tools as children.
void installPaintedViewAccessibility();

} // namespace weft::widgets
