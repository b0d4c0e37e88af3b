// SPDX-License-Identifier: GPL-3.0-or-later
// UX.md 5, target 28: WCAG contrast of text and of what is drawn, in both themes. The ratio says
// how many times the least that is allowed there is, so above 1 is good.
#include "tests/perf/studio/figures.h"
#include "tests/perf/studio/suites.h"
#include "widgets/look/theme.h"

#include <algorithm>
#include <string>

namespace {

using namespace weft::widgets;

constexpr double kText = 4.5;
constexpr double kGraphics = 3;

double least_text(const Theme& theme) {
    double least = 21;
    for (const Role text :
         {Role::Text, Role::Muted, Role::Accent, Role::Error, Role::Warning, Role::Success}) {
        for (const Role under : {Role::Background, Role::Surface, Role::Inset, tintOf(text)}) {
            least = std::min(least, contrastRatio(theme.color(text), theme.color(under)));
        }
    }
    return std::min(least, contrastRatio(theme.color(Role::OnAccent), theme.color(Role::Accent)));
}

double least_series(const Theme& theme) {
    double least = 21;
    for (int slot = 0; slot < 8; ++slot) {
        least = std::min(least, contrastRatio(theme.series(slot), theme.color(Role::Surface)));
    }
    return least;
}

} // namespace

void bench_contrast() {
    for (const Theme& theme : {Theme::light(), Theme::dark()}) {
        const std::string name = theme.isDark() ? "dark" : "light";
        bench::print(("28  least contrast of text, " + name).c_str(), least_text(theme), "to 1",
                     kText);
        bench::print(("28  least contrast of curves, " + name).c_str(), least_series(theme), "to 1",
                     kGraphics);
    }
}
