// SPDX-License-Identifier: GPL-3.0-or-later
// A run of an object store, which is a server of this test's own, opened in the studio.
#include "core/base/file.h"
#include "core/config/field.h"
#include "core/store/address.h"
#include "tests/support/error_of.h"
#include "tests/support/store_server.h"
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "ui/shell/store_dialog.h"
#include "widgets/controls/text_label.h"

#include <QLineEdit>
#include <QPushButton>

#include <atomic>
#include <latch>

namespace {

using namespace weft;
using test::kPatienceMs;
using test::kRunPatienceMs;
namespace fs = std::filesystem;

constexpr const char* kSmallRun = R"({
  "schema_version": 1, "name": "far", "seed": 3,
  "data": {"train": {"type": "synthetic", "kind": "classification", "samples": 64}},
  "model": {"type": "mlp", "hidden": [4]},
  "training": {"length": {"steps": 3}, "global_batch_size": 8, "precision": "f32"}
})";

/// A run on the disk of `fixture`, which `server` gets as s3://bucket/runs/far.
fs::path train_and_copy(test::StudioFixture& fixture, test::StoreServer& server) {
    const fs::path file = fixture.root() / "far.json";
    test::write_file(file, kSmallRun);
    const ui::StartResult started = fixture.studio().control().startFile(file);
    if (!started.started ||
        !QTest::qWaitFor([&] { return !fixture.studio().isTraining(); }, kRunPatienceMs)) {
        qFatal("it did not train: %s", qPrintable(started.problem));
    }
    const fs::path run = fixture.studio().run().folder();
    for (const auto& entry : fs::recursive_directory_iterator(run)) {
        if (entry.is_regular_file()) {
            server.set("/bucket/runs/far/" + entry.path().lexically_relative(run).string(),
                       read_file(entry.path()));
        }
    }
    return run;
}

QString said(const test::StudioFixture& fixture) {
    return static_cast<widgets::TextLabel*>(fixture.find("storeSays"))->text();
}

} // namespace

class StoreDialogTest : public QObject {
    Q_OBJECT

    test::StoreServer server_;

private slots:
    void initTestCase() {
        qputenv("AWS_ACCESS_KEY_ID", test::StoreServer::kKeyId);
        qputenv("AWS_SECRET_ACCESS_KEY", test::StoreServer::kSecret);
        qputenv("AWS_ENDPOINT_URL", QByteArray::fromStdString(server_.endpoint()));
        qputenv("AWS_REGION", "eu-test-1");
    }
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void a_run_of_a_store_is_fetched_and_shown() {
        test::StudioFixture fixture;
        const fs::path run = train_and_copy(fixture, server_);
        fs::rename(run, fixture.root() / "away");
        fixture.window().actions().get("file.open_store")->trigger();
        auto* address = static_cast<QLineEdit*>(fixture.find("storeAddress"));
        auto* fetch = static_cast<QPushButton*>(fixture.find("storeFetch"));
        QVERIFY(!fetch->isEnabled());
        QTest::keyClicks(address, "s3://bucket/runs/far");
        QVERIFY(fetch->isEnabled());
        fixture.click("storeFetch");
        const fs::path here = run.parent_path() / "far";
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().folder() == here, kRunPatienceMs);
        QCOMPARE(fixture.window().currentPage(), QString("train"));
        QCOMPARE(server_.bad_signatures(), std::vector<std::string>());

        // What is here is not fetched over it; an address given to the studio asks first.
        fixture.window().open("s3://bucket/runs/far");
        QTRY_VERIFY(fixture.find("storeFetch")->isEnabled());
        fixture.click("storeFetch");
        QTRY_VERIFY_WITH_TIMEOUT(said(fixture).contains("already"), kPatienceMs);
        QVERIFY(fixture.find("storeFetch")->isEnabled());
    }

    void an_address_is_judged_as_the_engine_does() {
        test::StudioFixture fixture;
        fixture.window().actions().get("file.open_store")->trigger();
        auto* address = static_cast<QLineEdit*>(fixture.find("storeAddress"));
        for (const char* wrong : {"s3://", "s3://bucket/a//b", "gs://bucket/../x"}) {
            address->clear();
            QTest::keyClicks(address, wrong);
            const std::string of_engine =
                test::error_of([&] { store::parse_address(wrong); })->message();
            QCOMPARE(said(fixture), ui::toQString(of_engine));
            QVERIFY(!fixture.find("storeFetch")->isEnabled());
        }
        address->clear();
        QTest::keyClicks(address, "https://bucket/x");
        QVERIFY(said(fixture).contains("s3://"));
    }

    void the_window_lives_while_a_store_keeps_silent() {
        std::atomic<bool> asked = false;
        std::latch answer(1);
        server_.order([&](const test::WireRequest&) -> std::optional<test::WireReply> {
            asked = true;
            answer.wait();
            return test::WireReply{.status = 404};
        });
        test::StudioFixture fixture;
        fixture.window().open("s3://bucket/runs/silent");
        fixture.click("storeFetch");
        QTRY_VERIFY_WITH_TIMEOUT(asked, kPatienceMs); // events are handled meanwhile
        QVERIFY(!fixture.find("storeFetch")->isEnabled());
        auto* dialog = fixture.window().findChild<ui::StoreDialog*>();
        dialog->reject();
        QVERIFY(!dialog->isVisible());
        answer.count_down();
        server_.order({});
        QVERIFY(fixture.studio().run().folder().empty());
    }
};

WEFT_TEST(StoreDialogTest)
#include "store_dialog_test.moc"
