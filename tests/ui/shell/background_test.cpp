// SPDX-License-Identifier: GPL-3.0-or-later
// Work in the background, and who waits for it.
#include "core/base/error.h"
#include "tests/support/weft_test.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/newest_job.h"
#include "ui/guarded_application.h"

#include <QImage>
#include <QPainter>
#include <QSemaphore>

#include <atomic>

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

    void only_the_newest_job_counts_and_the_one_before_ends_early() {
        ui::NewestJob job(this);
        QSemaphore gate;
        std::atomic<bool> told_to_stop = false;
        QList<int> results;
        job.start(
            [&](const std::stop_token& stop) {
                gate.acquire();
                told_to_stop = stop.stop_requested();
                return 1;
            },
            [&results](int one) { results << one; });
        QVERIFY(job.isRunning());
        job.start([] { return 2; }, [&results](int one) { results << one; });
        QTRY_COMPARE(results, QList<int>{2});
        QVERIFY(!job.isRunning());
        gate.release();
        QTRY_COMPARE(ui::backgroundPool()->activeThreadCount(), 0);
        QCoreApplication::processEvents();
        QVERIFY(told_to_stop);
        QCOMPARE(results, QList<int>{2});
    }

    void parts_of_a_job_are_dropped_together() {
        ui::NewestJob job(this);
        QSemaphore gate;
        int done = 0;
        for (int i = 0; i < 2; ++i) {
            job.join(
                [&gate] {
                    gate.acquire();
                    return 1;
                },
                [&done](int one) { done += one; });
        }
        gate.release();
        QTRY_COMPARE(done, 1);
        QVERIFY(job.isRunning());
        job.drop();
        QVERIFY(!job.isRunning());
        gate.release();
        QTRY_COMPARE(ui::backgroundPool()->activeThreadCount(), 0);
        QCoreApplication::processEvents();
        QCOMPARE(done, 1);
    }

    void what_a_stopped_job_has_found_counts() {
        ui::NewestJob job(this);
        QSemaphore gate;
        QList<bool> stopped;
        job.start(
            [&gate](const std::stop_token& stop) {
                gate.acquire();
                return stop.stop_requested();
            },
            [&stopped](bool early) { stopped << early; });
        job.stop();
        gate.release();
        QTRY_COMPARE(stopped, QList<bool>{true});
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
