// SPDX-License-Identifier: GPL-3.0-or-later
// The studio on a screen with two pixels for each of its own: pages fit as they do elsewhere, and
// every picture that is painted has the pixels for it.
#include "tests/support/weft_test.h"
#include "tests/ui/again.h"
#include "tests/ui/dialogs.h"
#include "tests/ui/patience.h"
#include "ui/pages/page_list.h"
#include "ui/plurals.h"
#include "widgets/controls/controls.h"

#include <QAbstractItemView>
#include <QPaintEngine>

namespace {

using namespace weft;
using test::kPatienceMs;

constexpr int kTwice = 2;
constexpr const char* kScale = "QT_SCALE_FACTOR";

/// Keeps what is painted on it with fewer pixels than it covers.
class PictureCatcher final : public QPaintEngine, public QPaintDevice {
public:
    explicit PictureCatcher(QSize size) : QPaintEngine(AllFeatures), size_(size) {}
    QStringList coarse;
    int pictures = 0;

    QPaintEngine* paintEngine() const override { return const_cast<PictureCatcher*>(this); }
    Type type() const override { return User; }
    bool begin(QPaintDevice*) override { return true; }
    bool end() override { return true; }
    void updateState(const QPaintEngineState&) override {}
    void drawPath(const QPainterPath&) override {}
    void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}
    void drawTextItem(const QPointF&, const QTextItem&) override {}
    void drawTiledPixmap(const QRectF&, const QPixmap&, const QPointF&) override {}
    // Samples of data are shown pixel by pixel and come as images.
    void drawImage(const QRectF&, const QImage&, const QRectF&, Qt::ImageConversionFlags) override {
    }
    void drawPixmap(const QRectF& place, const QPixmap&, const QRectF& source) override {
        ++pictures;
        const double covered = place.width() * painter()->deviceTransform().m11();
        if (source.width() < 0.95 * covered) { // rounded to whole pixels
            coarse << QString("%1 pixels over %2 at %3, %4")
                          .arg(source.width())
                          .arg(covered)
                          .arg(painter()->deviceTransform().map(place.topLeft()).x() / kTwice)
                          .arg(painter()->deviceTransform().map(place.topLeft()).y() / kTwice);
        }
    }

protected:
    int metric(PaintDeviceMetric wanted) const override {
        switch (wanted) {
        case PdmWidth: return size_.width() * kTwice;
        case PdmHeight: return size_.height() * kTwice;
        case PdmDevicePixelRatio: return kTwice;
        case PdmDevicePixelRatioScaled: return kTwice * static_cast<int>(devicePixelRatioFScale());
        case PdmDepth: return 32;
        case PdmNumColors: return 0;
        default: return 96;
        }
    }

private:
    QSize size_;
};

} // namespace

class ScaleTest : public QObject {
    Q_OBJECT

    static bool is_scaled() { return qEnvironmentVariableIsSet(kScale); }

    static QString at_twice_the_scale(const char* test_class) {
        QProcessEnvironment environment;
        environment.insert(kScale, QString::number(kTwice));
        return test::run_again(test_class, environment);
    }

    static void paint(test::StudioFixture& fixture, const QString& what, QStringList& found) {
        QTest::qWait(0); // the layout
        QWidget& window = fixture.window();
        PictureCatcher catcher(window.size());
        window.render(&catcher);
        QVERIFY2(catcher.pictures > 5, qPrintable(what)); // icons at least
        for (const QString& one : catcher.coarse) {
            found << what + ": " + one;
        }
    }

private slots:
    void initTestCase() { ui::installEnglishPlurals(*QCoreApplication::instance()); }

    void pages_fit() {
        if (!is_scaled()) {
            const QString problem = at_twice_the_scale("FitTest");
            QVERIFY2(problem.isEmpty(), qPrintable(problem));
        }
    }

    void pictures_are_sharp() {
        if (!is_scaled()) {
            const QString problem = at_twice_the_scale("ScaleTest");
            QVERIFY2(problem.isEmpty(), qPrintable(problem));
            return;
        }
        QCOMPARE(qApp->devicePixelRatio(), static_cast<qreal>(kTwice));
        test::StudioFixture fixture(test::pictures_config());
        fixture.window().resize(1440, 900);
        fixture.window().showPage("train");
        test::finish_a_run(fixture);
        QStringList found;
        for (const ui::PageRecord* record : ui::allPages()) {
            const QString id = QString::fromLatin1(record->id);
            fixture.window().showPage(id);
            if (id == "plan") {
                static_cast<widgets::SegmentedControl*>(fixture.find("planTab"))
                    ->setCurrentIndex(0);
                const auto* tree = static_cast<QAbstractItemView*>(fixture.find("tensorTree"));
                QTRY_VERIFY_WITH_TIMEOUT(tree->model()->rowCount() > 0, kPatienceMs);
            }
            paint(fixture, id, found);
            for (auto* part :
                 fixture.window().page(id)->findChildren<widgets::SegmentedControl*>()) {
                if (!part->objectName().endsWith("Tab") || !part->isVisible()) {
                    continue;
                }
                for (int i = 1; i < part->count(); ++i) {
                    part->setCurrentIndex(i);
                    paint(fixture, QString("%1, %2 %3").arg(id, part->objectName()).arg(i), found);
                }
            }
        }
        QVERIFY2(found.isEmpty(), qPrintable('\n' + found.join('\n')));
    }
};

WEFT_TEST(ScaleTest)
#include "scale_test.moc"
