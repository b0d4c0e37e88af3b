// SPDX-License-Identifier: GPL-3.0-or-later
// Work in the background, and who waits for it.
#include "tests/support/weft_test.h"
#include "ui/bridge/background.h"

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
};

} // namespace

WEFT_TEST(BackgroundTest)
#include "background_test.moc"
