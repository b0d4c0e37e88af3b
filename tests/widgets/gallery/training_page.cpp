// SPDX-License-Identifier: GPL-3.0-or-later
#include "fake_data.h"
#include "pages.h"

#include "widgets/controls/card.h"
#include "widgets/controls/figure_strip.h"
#include "widgets/curves/curve_editor.h"
#include "widgets/views/lifeline_chart.h"

#include <QVBoxLayout>

namespace weft::gallery {

using namespace widgets;

QWidget* makeTrainingPage() {
    auto* page = new Surface;
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(16, 16, 16, 16);
    auto* figures = new FigureStrip;
    figures->setFigures({{QStringLiteral("5,000"), QStringLiteral("updates"), {}},
                         {QStringLiteral("81.9 M"), QStringLiteral("tokens in all"), {}},
                         {QString(), QStringLiteral("not known"), {}}});
    layout->addWidget(figures);
    auto* curve = new CurveEditor;
    curve->setAccessibleName(QStringLiteral("Learning rate"));
    const Curve rate = learningRate(0, 5000, 5000, 200, 6e-4);
    curve->setCurve({rate.x, rate.y, {}},
                    {{0, 0, false, true, QStringLiteral("start"), QStringLiteral("start: 0")},
                     {200, 6e-4, true, true, QStringLiteral("warm-up ends"),
                      QStringLiteral("warm-up ends: step 200, 6e-4")},
                     {5000, 0, false, true, QStringLiteral("end"), QStringLiteral("end: 0")}});
    const Curve other = learningRate(0, 5000, 5000, 100, 1e-3);
    curve->setOther({other.x, other.y, QStringLiteral("gpt-6x384-002")});
    layout->addWidget(curve, 1);
    auto* lives = new LifelineChart;
    lives->setAccessibleName(QStringLiteral("Checkpoints"));
    std::vector<Lifeline> lines;
    for (int i = 1; i <= 10; ++i) {
        const double from = 500.0 * i;
        const bool stays = i == 6 || i >= 9;
        lines.push_back({from, stays ? 5000.0 : from + 1000.0, stays, i == 6,
                         QString::number(500 * i), QStringLiteral("step %1").arg(500 * i)});
    }
    lives->setLifelines(std::move(lines), 5000);
    lives->setMoment(3000);
    lives->setSummary({QStringLiteral("at step 3,000 exist 3, 390 MB"),
                       QStringLiteral("2,500  3,000"),
                       QStringLiteral("assumes the best at 3,000")});
    layout->addWidget(lives, 1);
    return page;
}

} // namespace weft::gallery
