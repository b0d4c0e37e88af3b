// SPDX-License-Identifier: GPL-3.0-or-later
// Colours of runs and devices can be told apart by eyes that lack one kind of cone.
#include "tests/support/weft_test.h"
#include "widgets/look/theme.h"

#include <array>
#include <cmath>

using namespace weft::widgets;

namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

// Machado, Oliveira and Fernandes 2009, "A Physiologically-based Model for Simulation of Color
// Vision Deficiency", IEEE TVCG 15(6), table 1, severity 1.0; of linear RGB.
constexpr Matrix kProtan{{{0.152286, 1.052583, -0.204868},
                          {0.114503, 0.786281, 0.099216},
                          {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix kDeutan{{{0.367322, 0.860646, -0.227968},
                          {0.280085, 0.672501, 0.047413},
                          {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix kTritan{{{1.255528, -0.076749, -0.178779},
                          {-0.078411, 0.930809, 0.147602},
                          {0.004733, 0.691367, 0.303900}}};

// Ottosson 2020, "A perceptual color space for image processing".
constexpr Matrix kToCones{{{0.4122214708, 0.5363325363, 0.0514459929},
                           {0.2119034982, 0.6806995451, 0.1073969566},
                           {0.0883024619, 0.2817188376, 0.6299787005}}};
constexpr Matrix kToLab{{{0.2104542553, 0.7936177850, -0.0040720468},
                         {1.9779984951, -2.4285922050, 0.4505937099},
                         {0.0259040371, 0.7827717662, -0.8086757660}}};

constexpr double kJustNoticed = 2.0; // CSS Color 4, 13.2, in hundredths as all distances here

Vector times(const Matrix& matrix, const Vector& vector) {
    Vector out{};
    for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t i = 0; i < 3; ++i) {
            out[row] += matrix[row][i] * vector[i];
        }
    }
    return out;
}

// IEC 61966-2-1.
double linear(double channel) {
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

/// OKLab of a colour as such eyes see it.
Vector seen(const QColor& color, const Matrix& eyes) {
    Vector rgb = times(eyes, {linear(color.redF()), linear(color.greenF()), linear(color.blueF())});
    for (double& channel : rgb) {
        channel = std::clamp(channel, 0.0, 1.0);
    }
    Vector cones = times(kToCones, rgb);
    for (double& cone : cones) {
        cone = std::cbrt(cone);
    }
    return times(kToLab, cones);
}

/// The nearest two colours of runs, in hundredths of OKLab.
double least_distance(const Theme& theme, const Matrix& eyes) {
    double least = 100;
    for (int a = 0; a < 8; ++a) {
        for (int b = 0; b < a; ++b) {
            const Vector one = seen(theme.series(a), eyes);
            const Vector other = seen(theme.series(b), eyes);
            least = std::min(
                least, 100 * std::hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]));
        }
    }
    return least;
}

} // namespace

class ColourVisionTest : public QObject {
    Q_OBJECT

private slots:
    // Black and white are 1 apart in lightness, whatever the eyes; the well-known confusion of red
    // and green is one of protan eyes and none of tritan ones.
    void the_simulation_knows_what_is_known() {
        for (const Matrix& eyes : {kProtan, kDeutan, kTritan}) {
            QVERIFY(std::abs(seen(Qt::white, eyes)[0] - 1) < 1e-3);
            QVERIFY(std::abs(seen(Qt::black, eyes)[0]) < 1e-3);
        }
        const auto hue_distance = [](const Matrix& eyes) {
            const Vector red = seen(QColor(0xD5, 0x5E, 0x00), eyes);
            const Vector green = seen(QColor(0x5E, 0x8C, 0x00), eyes);
            return std::hypot(red[1] - green[1], red[2] - green[2]);
        };
        QVERIFY(hue_distance(kDeutan) < hue_distance(kTritan) / 3);
        QVERIFY(hue_distance(kProtan) < hue_distance(kTritan) / 3);
    }

    // What the colours were searched for: 9.0 in the light theme, 11.7 in the dark one, as rounded.
    void runs_are_told_apart_without_red_or_green_cones() {
        for (const Matrix& eyes : {kProtan, kDeutan}) {
            const double light = least_distance(Theme::light(), eyes);
            const double dark = least_distance(Theme::dark(), eyes);
            QVERIFY2(light >= 9.0 - 0.05, qPrintable(QString::number(light)));
            QVERIFY2(dark >= 11.7 - 0.05, qPrintable(QString::number(dark)));
        }
    }

    void every_palette_is_told_apart_by_all_eyes() {
        for (const Theme& theme : {Theme::light(), Theme::dark()}) {
            for (const SeriesPalette palette : {SeriesPalette::Tuned, SeriesPalette::OkabeIto}) {
                for (const Matrix& eyes : {kProtan, kDeutan, kTritan}) {
                    const double distance = least_distance(theme.withSeries(palette), eyes);
                    QVERIFY2(distance >= 3 * kJustNoticed, qPrintable(QString::number(distance)));
                }
            }
        }
    }
};

WEFT_TEST(ColourVisionTest)
#include "colour_vision_test.moc"
