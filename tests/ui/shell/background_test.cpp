// SPDX-License-Identifier: GPL-3.0-or-later
// Work in the background, and who waits for it.
#include "core/base/error.h"
#include "tests/support/weft_test.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/guarded_application.h"

#include <QImage>
#include <QPainter>
#include <QSemaphore>

using namespace weft;

namespace {

class BackgroundTest : public QObject {
    Q_OBJECT
private slots:
    void no_paint_waits_for_work_in_the_background() {
        QThreadPool* pool = ui::backgroundPool();
        const int jobs = pool->maxThreadCount();
        QSemaphore gate;
        int done = 0;
        for (int i = 0; i < jobs; ++i) {
            ui::runInBackground(
                this,
                [&gate] {
                    gate.acquire();
                    return 1;
                },
                [&done](int one) { done += one; });
        }
        QTRY_COMPARE(pool->activeThreadCount(), jobs);
        // Qt fills large areas on the global pool and waits for it.
        QCOMPARE(QThreadPool::globalInstance()->activeThreadCount(), 0);
        QImage image(1500, 1500, QImage::Format_ARGB32_Premultiplied);
        image.fill(Qt::white);
        QPainter painter(&image);
        painter.fillRect(image.rect(), QColor(255, 0, 0, 128));
        QVERIFY(image.pixelColor(700, 700) != QColor(Qt::white));
        QCOMPARE(done, 0);
        gate.release(jobs);
        QTRY_COMPARE(done, jobs);
    }

    void what_work_throws_is_said_once_and_nothing_ends() {
        auto& application = static_cast<ui::GuardedApplication&>(*qApp);
        QStringList said;
        const auto before = application.setFaultListener(
            [&said](const std::exception* fault) { said << ui::faultText(*fault); });
        bool done = false;
        ui::runInBackground(
            this,
            []() -> int {
                throw Error(ErrorKind::runtime, "/runs/a/run.json", "is not a JSON object",
                            "mend it");
            },
            [&done](int) { done = true; });
        [&] { QTRY_COMPARE(said.size(), qsizetype{1}); }();
        application.setFaultListener(before);
        QVERIFY(!done);
        QVERIFY2(said.value(0).contains("run.json") && said.value(0).contains("mend it"),
                 qPrintable(said.value(0)));
    }
};

} // namespace

WEFT_TEST(BackgroundTest)
#include "background_test.moc"
