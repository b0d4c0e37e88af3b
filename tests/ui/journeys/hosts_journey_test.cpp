// SPDX-License-Identifier: GPL-3.0-or-later
// Another host from nothing to a checkpoint that is gone on with here, by somebody who has only a
// mouse and a keyboard: added, a draft begun there, followed, cut off and found again, paused,
// saved and stopped, fetched, resumed. A script stands for ssh; the program there is the real one.
#include "core/base/file.h"
#include "core/base/machine.h"
#include "core/train/record/run_folder.h"
#include "tests/support/far_host.h"
#include "tests/support/weft_test.h"
#include "tests/ui/hands.h"
#include "tests/ui/patience.h"
#include "ui/models/hosts/host_run_model.h"
#include "ui/pages/hosts/host_card.h"
#include "ui/pages/hosts/hosts_page.h"
#include "ui/pages/hosts/memory_rows.h"
#include "widgets/controls/pill.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/painting.h"

#include <QProgressBar>
#include <QTableView>

#include <csignal>

namespace {

using namespace weft;
using test::kPatienceMs;
using train::RunState;
namespace fs = std::filesystem;

/// The variables of a host while this is there.
class Environment {
public:
    explicit Environment(const QStringList& entries) {
        for (const QString& entry : entries) {
            const QByteArray name = entry.section('=', 0, 0).toUtf8();
            before_.emplace_back(name, qgetenv(name.constData()));
            qputenv(name.constData(), entry.section('=', 1).toUtf8());
        }
    }
    ~Environment() {
        for (const auto& [name, value] : before_) {
            value.isNull() ? qunsetenv(name.constData()) : qputenv(name.constData(), value);
        }
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

private:
    std::vector<std::pair<QByteArray, QByteArray>> before_;
};

/// No run there outlives a test that failed.
struct Ended {
    const fs::path runs;
    ~Ended() {
        std::error_code none;
        for (const auto& run : fs::directory_iterator(runs, none)) {
            if (const auto lock = train::read_lock(run.path()); lock && lock->pid > 0) {
                ::kill(static_cast<pid_t>(lock->pid), SIGKILL);
            }
        }
    }
};

/// A studio, and the host that it reaches as "far".
struct Room {
    const QTemporaryDir place;
    test::FarHost far{place.path().toStdString()};
    const Environment environment{far.environment()};
    const Ended ended{far.runs()};
    test::StudioFixture fixture;
    test::Mouse mouse{fixture};
};

} // namespace

class HostsJourneyTest : public QObject {
    Q_OBJECT

private slots:
    void from_no_host_to_a_checkpoint_that_is_gone_on_with() {
        Room room;
        test::FarHost& far = room.far;
        test::StudioFixture& fixture = room.fixture;
        test::Mouse& mouse = room.mouse;
        config::Json draft = config::json_of(test::tiny_config());
        draft["training"]["length"]["steps"] = 1000000000; // it does not end by itself
        fixture.studio().draft().setDocument(draft, fixture.root());

        // Added: Return is enough.
        QVERIFY(mouse.go("hosts"));
        QVERIFY(mouse.inDialog([&] { return mouse.press("addHostFirst"); },
                               [&] {
                                   return mouse.fill("hostName", "far") &&
                                          mouse.fill("hostProgram", WEFT_PROGRAM) &&
                                          mouse.key(Qt::Key_Return);
                               }));
        const auto reach = [&] {
            const auto* card = fixture.window().findChild<ui::HostCard*>("host:far");
            return card == nullptr ? QString() : card->findChild<widgets::Badge*>()->text();
        };
        QTRY_COMPARE_WITH_TIMEOUT(reach(), QString("connected"), kPatienceMs);
        const auto* memory =
            fixture.window().findChild<ui::HostCard*>("host:far")->findChild<ui::MemoryRows*>();
        const auto bars = memory->findChildren<QProgressBar*>();
        QVERIFY(!bars.isEmpty() && bars.front()->isVisible() && bars.front()->value() > 0);
        QVERIFY(bars.front()->accessibleName().contains(
            widgets::formatMemory(read_machine().memory_bytes)));

        // The draft becomes a run there, which is chosen.
        QVERIFY(mouse.press("startOnHost"));
        const auto* table = static_cast<QTableView*>(fixture.find("hostRunTable"));
        const auto chosen = [&] {
            const auto rows = table->selectionModel()->selectedRows(ui::HostRunModel::StateColumn);
            return rows.isEmpty() ? QString() : rows.front().data().toString();
        };
        QTRY_COMPARE_WITH_TIMEOUT(chosen(), QString("running"), kPatienceMs);
        const fs::path there = fs::directory_iterator(far.runs())->path();

        // Followed, it is a run like those of this machine.
        QVERIFY(mouse.press("followHostRun"));
        QTRY_COMPARE_WITH_TIMEOUT(fixture.window().currentPage(), QString("train"), kPatienceMs);
        const ui::RunModel& run = fixture.studio().run();
        QTRY_COMPARE_WITH_TIMEOUT(run.state(), RunState::running, kPatienceMs);
        QVERIFY(!run.isForeign());
        const fs::path mirror = run.folder();
        QCOMPARE(mirror, fixture.root() / "runs" / there.filename());
        const auto named = [&] {
            return fixture.find("runPicker")->findChild<widgets::ElidedLabel*>()->text();
        };
        QTRY_COMPARE_WITH_TIMEOUT(named(), run.name() + " on far", kPatienceMs);
        const std::int64_t before = run.step();
        QTRY_VERIFY_WITH_TIMEOUT(run.step() > before, kPatienceMs);

        // Cut off: it is said, and nothing there ends.
        QVERIFY(mouse.go("hosts"));
        far.cut();
        QTRY_COMPARE_WITH_TIMEOUT(reach(), QString("no answer"), kPatienceMs);
        QVERIFY(train::is_live(there));
        far.mend();
        QTRY_COMPARE_WITH_TIMEOUT(reach(), QString("connected"), kPatienceMs);

        // Orders from the page.
        QVERIFY(mouse.press("pauseHostRun"));
        QTRY_COMPARE_WITH_TIMEOUT(chosen(), QString("paused"), kPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(run.state(), RunState::paused, kPatienceMs); // it is followed
        QVERIFY(mouse.press("stopHostRun"));
        QTRY_COMPARE_WITH_TIMEOUT(chosen(), QString("stopped"), kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(!train::is_live(mirror), kPatienceMs);
        QVERIFY(!fs::exists(mirror / "checkpoints"));

        // What it saved comes here, and is gone on with here.
        QVERIFY(mouse.press("fetchCheckpoint"));
        fs::path saved;
        for (const auto& one : fs::directory_iterator(there / "checkpoints")) {
            saved = std::max(saved, one.path().filename());
        }
        QTRY_VERIFY_WITH_TIMEOUT(fs::exists(mirror / "checkpoints" / saved), kPatienceMs);
        QVERIFY(mouse.go("train"));
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kPatienceMs);
        QVERIFY(mouse.press("summaryResume"));
        QTRY_COMPARE_WITH_TIMEOUT(run.state(), RunState::running, kPatienceMs);
        QCOMPARE(run.folder(), mirror);
        QTRY_VERIFY_WITH_TIMEOUT(run.step() > before, kPatienceMs);
        QVERIFY(!train::is_live(there));

        // Off the list, and back.
        QVERIFY(mouse.go("hosts"));
        QVERIFY(mouse.press("removeHost"));
        QTRY_VERIFY_WITH_TIMEOUT(hosts::read_hosts(fixture.root() / "runs").empty(), kPatienceMs);
        QTRY_VERIFY(fixture.find("addHostFirst")->isVisible());
    }

    void a_draft_begins_there_once_its_data_are_there() {
        Room room;
        test::FarHost& far = room.far;
        test::StudioFixture& fixture = room.fixture;
        test::Mouse& mouse = room.mouse;
        std::string table = "a,b,kind\n";
        for (int i = 0; i < 60; ++i) {
            table +=
                std::to_string(i) + "," + std::to_string(i % 7) + (i % 2 == 0 ? ",x\n" : ",y\n");
        }
        write_file_atomically(fixture.root() / "table.csv", table);
        config::Json draft = config::json_of(test::tiny_config());
        draft["data"] = {{"train", {{"type", "csv"}, {"path", "table.csv"}, {"targets", "kind"}}}};
        fixture.studio().draft().setDocument(draft, fixture.root());
        hosts::add_host(fixture.root() / "runs",
                        {.name = "far", .program = WEFT_PROGRAM, .runs = {}});
        QVERIFY(mouse.go("hosts"));
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("startWithData")->isEnabled(), kPatienceMs);
        // rsync says how far it is, and goes on once that is seen.
        far.add_program("rsync", "case \"$*\" in *progress2*)\n"
                                 "printf '    1,024  42%%    1.00MB/s    0:00:01\\r'\n"
                                 "until [ -e \"$place/seen\" ]; do sleep 0.05; done ;; esac\n"
                                 "exec \"$(PATH=${PATH#*:}; command -v rsync)\" \"$@\"");
        QVERIFY(mouse.press("startWithData"));
        const auto* progress = static_cast<QProgressBar*>(fixture.find("fetchProgress"));
        QTRY_COMPARE_WITH_TIMEOUT(progress->value(), 42, kPatienceMs);
        QVERIFY(progress->isVisible());
        write_file_atomically(fs::path(room.place.path().toStdString()) / "seen", "");
        const fs::path there = far.runs() / "data" / "table.csv";
        QTRY_VERIFY_WITH_TIMEOUT(fs::exists(there), kPatienceMs);
        const auto run = [&]() -> fs::path {
            for (const auto& one : fs::directory_iterator(far.runs())) {
                if (train::is_run_folder(one.path())) {
                    return one.path();
                }
            }
            return {};
        };
        QTRY_VERIFY_WITH_TIMEOUT(!run().empty(), kPatienceMs);
        const config::Json document = config::json_of(read_file(run() / "config.json"));
        QCOMPARE(document.at("data").at("train").at("path").get<std::string>(), there.string());
        QCOMPARE(read_file(there), table);
    }

    void what_cannot_be_reached_is_said_and_asked_again() {
        Room room;
        test::StudioFixture& fixture = room.fixture;
        hosts::add_host(fixture.root() / "runs", {.name = "nowhere", .program = {}, .runs = {}});
        fixture.window().showPage("hosts");
        const auto text = [&] {
            const auto* card = fixture.window().findChild<ui::HostCard*>("host:nowhere");
            QStringList words;
            for (const auto* label : card == nullptr ? QList<widgets::TextLabel*>()
                                                     : card->findChildren<widgets::TextLabel*>()) {
                words << label->text();
            }
            return words.join(' ');
        };
        QTRY_VERIFY_WITH_TIMEOUT(text().contains("Could not resolve hostname"), kPatienceMs);
        QVERIFY(!fixture.find("startOnHost")->isEnabled());
    }
};

WEFT_TEST(HostsJourneyTest)
#include "hosts_journey_test.moc"
